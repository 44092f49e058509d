// A made-up driver: an event holds the time at which it was recorded.
#include "capture/cuda/event_timer.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

struct Driver {
  std::int64_t now = 0;
  bool capturing = false;
  bool busy = false;
  std::vector<std::unique_ptr<std::int64_t>> events;
};

Driver& driver() {
  static Driver made;
  return made;
}

EventFunctions functions() {
  driver() = {};
  EventFunctions all;
  all.create = [](CUevent* event, unsigned) {
    auto& made = driver().events.emplace_back(std::make_unique<std::int64_t>(0));
    *event = reinterpret_cast<CUevent>(made.get());
    return CUDA_SUCCESS;
  };
  all.record = [](CUevent event, CUstream) {
    *reinterpret_cast<std::int64_t*>(event) = driver().now;
    return CUDA_SUCCESS;
  };
  all.query = [](CUevent) { return driver().busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; };
  all.synchronize = [](CUevent) { return CUDA_SUCCESS; };
  all.elapsed = [](float* ms, CUevent begin, CUevent end) {
    *ms = static_cast<float>(static_cast<double>(*reinterpret_cast<std::int64_t*>(end) -
                                                 *reinterpret_cast<std::int64_t*>(begin)) /
                             1e6);
    return CUDA_SUCCESS;
  };
  all.is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = driver().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  return all;
}

void launch(EventTimer& timer, std::uint32_t correlation, std::int64_t duration) {
  timer.begin(1, nullptr, correlation, "add");
  driver().now += duration;
  timer.end(correlation);
}

TEST(EventTimer, TimesKernelsInTheOrderOfTheirLaunches) {
  EventTimer timer(functions());
  launch(timer, 1, 5000);
  driver().now += 1000;
  launch(timer, 2, 7000);
  const auto kernels = timer.take();
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].duration, 5000);
  EXPECT_EQ(kernels[1].duration, 7000);
  EXPECT_EQ(kernels[1].start - kernels[0].start, 6000);
  EXPECT_EQ(kernels[1].correlation, 2U);
  EXPECT_EQ(kernels[0].name, "add");
  EXPECT_TRUE(timer.take().empty());
}

TEST(EventTimer, AKernelThatRunsIsTakenLater) {
  EventTimer timer(functions());
  launch(timer, 1, 5000);
  driver().busy = true;
  EXPECT_TRUE(timer.take().empty());
  driver().busy = false;
  EXPECT_EQ(timer.take().size(), 1U);
}

TEST(EventTimer, LaunchesIntoAGraphThatIsBeingCapturedAreCounted) {
  EventTimer timer(functions());
  driver().capturing = true;
  launch(timer, 1, 5000);
  EXPECT_TRUE(timer.take().empty());
  EXPECT_EQ(timer.take_missed(), 1U);
}

TEST(EventTimer, StaysExactOverHours) {
  EventTimer timer(functions());
  launch(timer, 1, 5000);
  const std::int64_t first = timer.take().at(0).start;
  std::int64_t last = 0;
  for (std::uint32_t second = 1; second < 7200; ++second) {
    driver().now += 1'000'000'000;
    launch(timer, second + 1, 5000);
    const auto kernels = timer.take();
    ASSERT_EQ(kernels.size(), 1U);
    last = kernels[0].start;
  }
  EXPECT_NEAR(static_cast<double>(last - first), 7199 * (1e9 + 5000), 1e6);
}

}  // namespace
}  // namespace fathom::cuda
