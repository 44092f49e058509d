#include "base/stop.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "base/thread_pool.h"

namespace fathom {
namespace {

TEST(Stop, WithoutAFlagNothingStops) { EXPECT_NO_THROW(stop_point()); }

TEST(Stop, ThrowsOnceTheFlagIsSetAndOnlyInsideItsScope) {
  std::atomic<bool> flag = false;
  {
    const StopScope scope(&flag);
    EXPECT_NO_THROW(stop_point());
    flag = true;
    EXPECT_THROW(stop_point(), Stopped);
    {
      const StopScope unstopped(nullptr);
      EXPECT_NO_THROW(stop_point());
    }
    EXPECT_THROW(stop_point(), Stopped);
  }
  EXPECT_NO_THROW(stop_point());
}

TEST(Stop, EndsWorkThatIsSharedAmongThreads) {
  const ThreadPool pool(4);
  std::atomic<bool> flag = false;
  std::atomic<std::size_t> done = 0;
  constexpr std::size_t kPieces = 100'000;
  const StopScope scope(&flag);
  EXPECT_THROW(for_each_in_parallel(kPieces, 0,
                                    [&](std::size_t piece) {
                                      if (piece == 10) flag = true;
                                      ++done;
                                    }),
               Stopped);
  EXPECT_LT(done, kPieces);
}

TEST(Stop, HoldsForWhatHelpersCompute) {
  const ThreadPool pool(4);
  std::atomic<bool> flag = false;
  std::atomic<std::size_t> other = 0;
  const StopScope scope(&flag);
  for_each_in_parallel(1000, 0, [&](std::size_t) {
    if (stop_flag() != &flag) ++other;
  });
  EXPECT_EQ(other, 0U);
}

}  // namespace
}  // namespace fathom
