// Work on a fake device is timed exactly, and writing over L2 is in no window.
#include "measure/cuda_timer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// The fake driver, loaded while it lives, as a program that uses CUDA has it.
class Driver {
 public:
  Driver() : library_(dlopen(FATHOM_FAKE_DRIVER, RTLD_NOW)) {}
  ~Driver() { dlclose(library_); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  template <typename Result = void, typename... Arguments>
  Result call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name))(arguments...);
  }
  [[nodiscard]] std::int64_t count(const char* name) const { return call<std::int64_t>(name); }
  void launch(std::int64_t warm, std::int64_t cold) const {
    call<void, std::int64_t, std::int64_t>("fake_launch", warm, cold);
  }

 private:
  void* library_;
};

TEST(CudaDevice, IsNotThereWithoutADriverAndNeverLoadsOne) {
  const Result<std::shared_ptr<CudaDevice>> device = CudaDevice::current();
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::unsupported);
}

TEST(CudaDevice, NeedsAContextOfThisThread) {
  const Driver driver;
  driver.call<void, int>("fake_context", 0);
  EXPECT_FALSE(CudaDevice::current());
  driver.call<void, int>("fake_context", 1);
  const Result<std::shared_ptr<CudaDevice>> device = CudaDevice::current();
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->name(), "Fake GPU");
  EXPECT_EQ((*device)->driver_version(), "12.8");
  EXPECT_EQ((*device)->l2_bytes(), 4096);
  EXPECT_EQ((*device)->uuid(), "GPU-00000000-0000-0000-0000-000000000000");
}

TEST(EventTimer, WarmPutsOnePairAroundAllCalls) {
  const Driver driver;
  Result<BlockTimer> timer = CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 7);
  ASSERT_TRUE(timer);
  EXPECT_EQ(timer->mode, "events");
  EXPECT_GE(timer->least, std::chrono::microseconds(50));
  const std::int64_t before = driver.count("fake_records");
  const auto ns = timer->time(
      [&](std::size_t calls) {
        for (std::size_t i = 0; i < calls; ++i) driver.launch(1000, 3000);
        return true;
      },
      40);
  ASSERT_TRUE(ns);
  EXPECT_NEAR(*ns, 40'000, 1);
  EXPECT_EQ(driver.count("fake_records") - before, 2);
  EXPECT_EQ(driver.count("fake_fills"), 0);
  EXPECT_EQ(driver.call<std::uint64_t>("fake_stream"), 7U);
}

TEST(EventTimer, ColdWritesTwiceTheL2BeforeEachCallOutsideOfTheWindow) {
  const Driver driver;
  {
    Result<BlockTimer> timer = CudaDevice::event_timer(*CudaDevice::current(), L2::cold, 0);
    ASSERT_TRUE(timer);
    std::size_t blocks = 0;
    const auto ns = timer->time(
        [&](std::size_t calls) {
          EXPECT_EQ(calls, 1U);
          ++blocks;
          driver.launch(1000, 3000);
          return true;
        },
        20);
    ASSERT_TRUE(ns);
    EXPECT_EQ(blocks, 20U);
    EXPECT_NEAR(*ns, 60'000, 1);
    EXPECT_EQ(driver.count("fake_fills"), 20);
    EXPECT_EQ(driver.count("fake_filled_bytes"), 2 * 4096);
    EXPECT_GT(driver.count("fake_live"), 0);
  }
  EXPECT_EQ(driver.count("fake_live"), 0) << "events and buffer are given back";
}

TEST(EventTimer, ABlockThatStopsStops) {
  const Driver driver;
  Result<BlockTimer> timer = CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 0);
  ASSERT_TRUE(timer);
  EXPECT_FALSE(timer->time([](std::size_t) { return false; }, 1));
  EXPECT_EQ(timer->error(), "");
}

TEST(EventTimer, AFailureOfTheDriverIsNamed) {
  const Driver driver;
  Result<BlockTimer> timer = CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 0);
  ASSERT_TRUE(timer);
  const auto ns = timer->time(
      [&](std::size_t) {
        driver.call<void, int>("fake_failure", 1);
        return true;
      },
      1);
  EXPECT_FALSE(ns);
  EXPECT_EQ(timer->error(), "cuEventRecord failed with code 719");
}

TEST(EventTimer, ColdIsRefusedWithoutMemoryOrWithoutTheSizeOfL2) {
  const Driver driver;
  driver.call<void, int>("fake_l2", 0);
  const Result<BlockTimer> unknown = CudaDevice::event_timer(*CudaDevice::current(), L2::cold, 0);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unsupported);
  driver.call<void, int>("fake_l2", 1 << 30);
  const Result<BlockTimer> full = CudaDevice::event_timer(*CudaDevice::current(), L2::cold, 0);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::io);
}

/// Of 10 launches of 1 µs each, for which the host takes 4 µs.
double ten_launches(const Driver& driver, L2 l2, const Launches& launches) {
  Result<BlockTimer> timer = CudaDevice::event_timer(*CudaDevice::current(), l2, 0, launches);
  EXPECT_TRUE(timer);
  driver.call<void, std::int64_t>("fake_host_time", 4000);
  const auto ns = timer->time(
      [&](std::size_t calls) {
        for (std::size_t i = 0; i < calls; ++i) driver.launch(1000, 3000);
        return true;
      },
      10);
  EXPECT_TRUE(ns) << timer->error();
  return ns.value_or(0);
}

TEST(EventTimer, ADeviceThatWaitsForLaunchesTakesTheirTime) {
  const Driver driver;
  // From the first event on, which comes before the first launch.
  EXPECT_NEAR(ten_launches(driver, L2::warm, {}), 41'000, 1);
}

TEST(EventTimer, HiddenLaunchesAreInNoWindow) {
  const Driver driver;
  EXPECT_NEAR(ten_launches(driver, L2::warm, {.hidden = true}), 10'000, 1);
  EXPECT_NEAR(ten_launches(driver, L2::cold, {.hidden = true}), 30'000, 1);
  EXPECT_EQ(driver.count("fake_live"), 0) << "what the stream waits for is given back";
}

TEST(EventTimer, ACallThatWaitsForTheHeldDeviceGoesOnAndIsNoTime) {
  const Driver driver;
  Result<BlockTimer> timer =
      CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 0,
                              {.hidden = true, .patience = std::chrono::milliseconds(1)});
  ASSERT_TRUE(timer);
  const auto ns = timer->time(
      [&](std::size_t) {
        driver.launch(1000, 1000);
        EXPECT_EQ(driver.call<int>("cuCtxSynchronize"), 0);
        return true;
      },
      1);
  EXPECT_FALSE(ns);
  EXPECT_NE(timer->error().find("a call waits for the device"), std::string::npos);
}

TEST(EventTimer, AHeldStreamGoesOnWhereABlockStops) {
  const Driver driver;
  Result<BlockTimer> timer =
      CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 0, {.hidden = true});
  ASSERT_TRUE(timer);
  EXPECT_FALSE(timer->time([](std::size_t) { return false; }, 1));
  EXPECT_EQ(timer->error(), "");
  EXPECT_EQ(driver.call<int>("cuCtxSynchronize"), 0);
}

TEST(EventTimer, ADriverThatCannotHoldAStreamIsTold) {
  const Driver driver;
  driver.call<void, int>("fake_gate", 801);
  const Result<BlockTimer> timer =
      CudaDevice::event_timer(*CudaDevice::current(), L2::warm, 0, {.hidden = true});
  ASSERT_FALSE(timer);
  EXPECT_EQ(timer.error().code, ErrorCode::unsupported);
  EXPECT_NE(timer.error().message.find("801"), std::string::npos);
}

}  // namespace
}  // namespace fathom::measure
