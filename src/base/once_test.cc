#include "base/once.h"

#include <atomic>
#include <new>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace fathom {
namespace {

TEST(Once, CallsOnceForAllThreadsWhichSeeWhatWasDone) {
  const ThreadPool pool(4);
  for (int round = 0; round < 100; ++round) {
    Once once;
    int calls = 0;
    std::atomic<int> seen = 0;
    for_each_in_parallel(8, 0, [&](std::size_t) {
      once.call([&] { ++calls; });
      seen += calls;
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(seen, 8);
  }
}

TEST(Once, IsUncalledAfterAnException) {
  Once once;
  EXPECT_THROW(once.call([] { throw std::bad_alloc(); }), std::bad_alloc);
  int calls = 0;
  for (int i = 0; i < 3; ++i) once.call([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fathom
