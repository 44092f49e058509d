// Waiting for a context, with a driver of a few functions.
#include "capture/cuda/context_wait.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

/// What the driver was asked, and what it answers.
struct Driver {
  std::string asked;
  int not_ready = 0;  ///< Looks at the event before it is there.
  CUresult ended = CUDA_SUCCESS;
  CUcontext current = nullptr;
  CUstream stream = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): functions of C ask for it
Driver driver;

CUcontext context(int number) {
  static int places[4] = {};
  return reinterpret_cast<CUcontext>(&places[number]);
}

ContextFunctions functions(bool newer) {
  driver = {};
  ContextFunctions all;
  all.current = [](CUcontext* into) {
    *into = driver.current;
    return CUDA_SUCCESS;
  };
  all.push = [](CUcontext pushed) {
    driver.asked += "push ";
    driver.current = pushed;
    return CUDA_SUCCESS;
  };
  all.pop = [](CUcontext* into) {
    driver.asked += "pop ";
    *into = driver.current;
    driver.current = nullptr;
    return CUDA_SUCCESS;
  };
  all.exchange_mode = [](CUstreamCaptureMode* mode) {
    std::swap(*mode, driver.mode);
    return CUDA_SUCCESS;
  };
  all.create = [](CUevent* event, unsigned) {
    driver.asked += driver.mode == CU_STREAM_CAPTURE_MODE_RELAXED ? "create " : "spoil ";
    *event = reinterpret_cast<CUevent>(&driver);
    return CUDA_SUCCESS;
  };
  all.destroy = [](CUevent) {
    driver.asked += "destroy ";
    return CUDA_SUCCESS;
  };
  all.record = [](CUevent, CUstream stream) {
    driver.asked += "record ";
    driver.stream = stream;
    return CUDA_SUCCESS;
  };
  all.query = [](CUevent) { return driver.not_ready-- > 0 ? CUDA_ERROR_NOT_READY : driver.ended; };
  if (newer)
    all.record_context = [](CUcontext recorded, CUevent) {
      driver.asked += recorded == driver.current ? "record-context " : "another-context ";
      return CUDA_SUCCESS;
    };
  return all;
}

TEST(ContextWait, AsksAnEventOfTheContextUntilItIsThere) {
  const ContextFunctions cuda = functions(true);
  driver.not_ready = 3;
  EXPECT_TRUE(wait_for_context(cuda, context(1)));
  EXPECT_EQ(driver.asked, "push create record-context destroy pop ");
  EXPECT_EQ(driver.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST(ContextWait, WithoutANameItIsTheThreadsOwn) {
  const ContextFunctions cuda = functions(true);
  EXPECT_FALSE(wait_for_context(cuda, nullptr));
  EXPECT_EQ(driver.asked, "");
  driver.current = context(2);
  EXPECT_TRUE(wait_for_context(cuda, nullptr));
  EXPECT_EQ(driver.asked, "create record-context destroy ");
}

TEST(ContextWait, WhatDoesNotEndIsNotWaitedForForever) {
  const ContextFunctions cuda = functions(true);
  driver.not_ready = 1 << 30;
  EXPECT_FALSE(wait_for_context(cuda, context(1)));
  EXPECT_EQ(driver.asked, "push create record-context destroy pop ");
}

TEST(ContextWait, AnErrorOfTheWorkIsNoEndOfIt) {
  const ContextFunctions cuda = functions(true);
  driver.ended = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_FALSE(wait_for_context(cuda, context(1)));
}

TEST(ContextWait, AnOlderDriverIsAskedAboutTheStreamsThatItKnowsAndTheRestIsNotKnown) {
  const ContextFunctions cuda = functions(false);
  driver.not_ready = 2;
  EXPECT_FALSE(wait_for_context(cuda, context(1)));
  EXPECT_EQ(driver.asked, "push create record destroy pop ");
  EXPECT_EQ(driver.stream, CU_STREAM_LEGACY);
  EXPECT_LE(driver.not_ready, 0);
}

TEST(ContextWait, WithoutAFunctionOfTheDriverNothingIsAsked) {
  ContextFunctions cuda = functions(true);
  cuda.query = nullptr;
  EXPECT_FALSE(wait_for_context(cuda, context(1)));
  EXPECT_EQ(driver.asked, "");
}

}  // namespace
}  // namespace fathom::cuda
