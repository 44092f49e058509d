// A made-up driver: an event holds the time at which it was recorded.
#include "capture/cuda/event_timer.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

struct Driver {
  std::int64_t now = 0;
  bool capturing = false;
  bool busy = false;
  bool captures_for_all = false;  // another thread, so that ours must be relaxed
  bool spoilt = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUcontext current = nullptr;
  bool context_gone = false;
  bool without_context = false;   // something was asked that needs one
  std::vector<CUstream> streams;  // of recorded events
  std::vector<std::unique_ptr<std::int64_t>> events;

  void unsafe() { spoilt |= captures_for_all && mode != CU_STREAM_CAPTURE_MODE_RELAXED; }
};

Driver& driver() {
  static Driver made;
  return made;
}

EventFunctions functions() {
  driver() = {};
  EventFunctions all;
  all.create = [](CUevent* event, unsigned) {
    driver().unsafe();
    auto& made = driver().events.emplace_back(std::make_unique<std::int64_t>(0));
    *event = reinterpret_cast<CUevent>(made.get());
    return CUDA_SUCCESS;
  };
  all.record = [](CUevent event, CUstream stream) {
    driver().unsafe();
    driver().streams.push_back(stream);
    *reinterpret_cast<std::int64_t*>(event) = driver().now;
    return CUDA_SUCCESS;
  };
  all.query = [](CUevent) {
    driver().unsafe();
    return driver().busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  all.synchronize = [](CUevent) {
    driver().unsafe();
    return CUDA_SUCCESS;
  };
  all.elapsed = [](float* ms, CUevent begin, CUevent end) {
    driver().without_context |= driver().current == nullptr;
    *ms = static_cast<float>(static_cast<double>(*reinterpret_cast<std::int64_t*>(end) -
                                                 *reinterpret_cast<std::int64_t*>(begin)) /
                             1e6);
    return CUDA_SUCCESS;
  };
  all.is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = driver().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  all.exchange_mode = [](CUstreamCaptureMode* mode) {
    std::swap(*mode, driver().mode);
    return CUDA_SUCCESS;
  };
  all.current = [](CUcontext* context) {
    *context = driver().current;
    return CUDA_SUCCESS;
  };
  all.push = [](CUcontext context) {
    if (driver().context_gone) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    driver().current = context;
    return CUDA_SUCCESS;
  };
  all.pop = [](CUcontext* context) {
    *context = std::exchange(driver().current, nullptr);
    return CUDA_SUCCESS;
  };
  return all;
}

CUcontext a_context() { return reinterpret_cast<CUcontext>(&driver()); }

void launch(EventTimer& timer, std::uint32_t correlation, std::int64_t duration) {
  timer.begin({1, nullptr, correlation, "add", false});
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

TEST(EventTimer, AGraphThatAnotherThreadCapturesIsNotSpoilt) {
  EventTimer timer(functions());
  driver().captures_for_all = true;
  launch(timer, 1, 5000);
  EXPECT_EQ(driver().mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(timer.take().size(), 1U);
  EXPECT_FALSE(driver().spoilt);
  EXPECT_EQ(driver().mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST(EventTimer, TimesAreAskedForInTheContextOfTheLaunch) {
  EventTimer timer(functions());
  driver().current = a_context();
  launch(timer, 1, 5000);
  driver().current = nullptr;  // as in the recorder's thread
  EXPECT_EQ(timer.take().size(), 1U);
  EXPECT_FALSE(driver().without_context);
  EXPECT_EQ(driver().current, nullptr);
}

TEST(EventTimer, AContextThatIsGoneTakesItsKernelsAlong) {
  EventTimer timer(functions());
  driver().current = a_context();
  launch(timer, 1, 5000);
  driver().context_gone = true;
  EXPECT_TRUE(timer.take().empty());
  EXPECT_EQ(timer.take_missed(), 1U);
  EXPECT_TRUE(timer.take().empty());
  EXPECT_EQ(timer.take_missed(), 0U);
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

TEST(EventTimer, AGraphIsTimedAsAWhole) {
  EventTimer timer(functions());
  timer.begin({1, nullptr, 1, "CUDA graph", true});
  driver().now += 9000;
  timer.end(1);
  launch(timer, 2, 5000);
  const auto timed = timer.take();
  ASSERT_EQ(timed.size(), 2U);
  EXPECT_TRUE(timed[0].graph);
  EXPECT_EQ(timed[0].duration, 9000);
  EXPECT_FALSE(timed[1].graph);
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
