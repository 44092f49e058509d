// What is kept by time, by a signal, and by what other parts of Fathom report.
#include "capture/cuda/activity_limits.h"

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 100 * kSecond;

TEST(CudaLimits, WithoutAnyAllIsKept) {
  const Limits limits;
  EXPECT_TRUE(limits.keeps(0));
  EXPECT_TRUE(limits.wants(kStart));
  EXPECT_FALSE(limits.undecided());
}

TEST(CudaLimits, DelayAndDurationCutToTheNanosecond) {
  inside::Settings settings;
  settings.delay_ns = 3 * kSecond;
  settings.duration_ns = 2 * kSecond;
  const Limits limits(settings, kStart, nullptr);
  EXPECT_FALSE(limits.keeps(kStart + 3 * kSecond - 1));
  EXPECT_TRUE(limits.keeps(kStart + 3 * kSecond));
  EXPECT_TRUE(limits.keeps(kStart + 5 * kSecond - 1));
  EXPECT_FALSE(limits.keeps(kStart + 5 * kSecond));
}

TEST(CudaLimits, RecordingIsSwitchedOnBeforeTheDelayIsOver) {
  inside::Settings settings;
  settings.delay_ns = 3 * kSecond;
  const Limits limits(settings, kStart, nullptr);
  EXPECT_FALSE(limits.wants(kStart));
  EXPECT_TRUE(limits.wants(kStart + 3 * kSecond - kSecond / 4));
}

TEST(CudaLimits, ASignalOpensAndCloses) {
  inside::SharedPage* const arrivals = inside::make_shared_page(false);
  ASSERT_NE(arrivals, nullptr);
  const Limits limits({}, kStart, arrivals);
  EXPECT_FALSE(limits.wants(kStart));
  arrivals->turn(kStart + 10);
  EXPECT_TRUE(limits.wants(kStart + 11));
  arrivals->turn(kStart + 20);
  EXPECT_FALSE(limits.wants(kStart + 21));
  EXPECT_FALSE(limits.keeps(kStart + 9));
  EXPECT_TRUE(limits.keeps(kStart + 10));
  EXPECT_FALSE(limits.keeps(kStart + 20));
}

TEST(CudaLimits, StepsAreThoseOfWhoeverCountsThem) {
  inside::Settings settings;
  settings.steps = schedule{.wait = 1};
  Limits limits(settings, kStart, nullptr);
  EXPECT_TRUE(limits.undecided());
  EXPECT_TRUE(limits.keeps(kStart));
  inside::SharedPage* const page = inside::make_shared_page();
  ASSERT_NE(page, nullptr);
  limits.look();
  EXPECT_FALSE(limits.undecided());
  EXPECT_FALSE(limits.keeps(kStart));
  page->turn(kStart + 10);
  EXPECT_FALSE(limits.keeps(kStart + 9));
  EXPECT_TRUE(limits.keeps(kStart + 10));
}

TEST(CudaLimits, TheRangeOfTheCudaProfilerIsNobodyElses) {
  inside::Settings settings;
  settings.range = "cuda-profiler";
  EXPECT_FALSE(Limits(settings, kStart, nullptr).undecided());
  settings.range = "train";
  EXPECT_TRUE(Limits(settings, kStart, nullptr).undecided());
}

}  // namespace
}  // namespace fathom::cuda
