// When a program is taken to hang: programs that are made up look by look.
#include "record/hang_rule.h"

#include <limits>

#include <gtest/gtest.h>

namespace fathom::record {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;

/// A program of one process that is looked at every half second.
class Hang : public testing::Test {
 protected:
  /// Looks for so many seconds, in each of which it computes so long; the first reason.
  std::string pass(int seconds, std::int64_t computes) {
    std::string found;
    for (int half = 0; half < 2 * seconds; ++half) {
      now_ += kSecond / 2;
      spent_ += computes / 2;
      const std::string why =
          rule_.look({.now = now_, .spent = {{7, spent_}}, .stopped = stopped_});
      if (found.empty()) found = why;
      count_ += why.empty() ? 0 : 1;
    }
    return found;
  }
  void steps(int count, std::int64_t duration) {
    for (int i = 0; i < count; ++i) {
      rule_.step(7, now_, duration);
      now_ += duration;
    }
  }

  HangRule rule_{60 * kSecond};
  std::int64_t now_ = 1000 * kSecond;
  std::int64_t spent_ = 0;
  int count_ = 0;
  bool stopped_ = false;
};

TEST_F(Hang, OneThatComputesIsLeftAlone) { EXPECT_EQ(pass(600, 100 * kMs), ""); }

TEST_F(Hang, OneThatComputesNothingIsLookedAtOnce) {
  EXPECT_EQ(pass(55, 0), "");
  EXPECT_NE(pass(10, 0).find("computed nothing for 60"), std::string::npos);
  pass(600, 0);
  EXPECT_EQ(count_, 1);
  // It goes on, and hangs again.
  pass(5, 500 * kMs);
  EXPECT_NE(pass(65, 0), "");
  EXPECT_EQ(count_, 2);
}

TEST_F(Hang, AThreadThatLooksAfterSomethingIsNothing) { EXPECT_NE(pass(70, kMs), ""); }

TEST_F(Hang, AStoppedProgramIsNotToDoAnything) {
  stopped_ = true;
  EXPECT_EQ(pass(600, 0), "");
  stopped_ = false;
  EXPECT_EQ(pass(55, 0), "");
}

TEST_F(Hang, OneThatWaitsForAProcessorDoesNotHang) {
  for (int second = 0; second < 600; ++second) {
    now_ += kSecond;
    EXPECT_EQ(rule_.look({.now = now_, .spent = {{7, 0}}, .ready = true}), "");
  }
}

TEST_F(Hang, TimeInWhichNobodyLookedDoesNotCount) {
  pass(10, 500 * kMs);
  now_ += 3600 * kSecond;
  EXPECT_EQ(pass(55, 0), "");
}

TEST_F(Hang, ANewProcessIsSomething) {
  EXPECT_EQ(pass(50, 0), "");
  now_ += kSecond / 2;
  EXPECT_EQ(rule_.look({.now = now_, .spent = {{7, 0}, {8, 0}}}), "");
  now_ += kSecond / 2;
  EXPECT_EQ(rule_.look({.now = now_, .spent = {{7, 0}}}), "");
  EXPECT_EQ(pass(55, 0), "");
}

TEST_F(Hang, AStepThatDoesNotEndIsOdd) {
  steps(20, 400 * kMs);
  EXPECT_EQ(pass(7, 100 * kMs), "");
  const std::string why = pass(2, 100 * kMs);
  EXPECT_NE(why.find("no step has ended for 8"), std::string::npos) << why;
  EXPECT_NE(why.find("400"), std::string::npos) << why;
  EXPECT_EQ(why.find("computes"), std::string::npos) << why;
  pass(100, 100 * kMs);
  EXPECT_EQ(count_, 1);
  steps(1, 400 * kMs);
  EXPECT_NE(pass(9, 100 * kMs), "");
}

TEST_F(Hang, AStepInWhichItComputesMayBeAValidation) {
  steps(20, 30 * kMs);
  EXPECT_EQ(pass(55, kSecond), "");
  const std::string why = pass(6, kSecond);
  EXPECT_NE(why.find("the program computes"), std::string::npos) << why;
}

TEST_F(Hang, AStepThatWaitsForAProcessorMayBeAValidation) {
  steps(20, 30 * kMs);
  for (int second = 0; second < 59; ++second) {
    now_ += kSecond;
    EXPECT_EQ(rule_.look({.now = now_, .spent = {{7, 0}}, .ready = true}), "");
  }
}

TEST_F(Hang, WhatWasDoneBesideStepsBeforeMayBeDoneAgain) {
  steps(20, 30 * kMs);
  rule_.phase(now_, 100 * kSecond);
  now_ += 100 * kSecond;
  EXPECT_EQ(pass(95, kSecond), "");
  EXPECT_NE(pass(10, kSecond), "");
  rule_.phase(std::numeric_limits<std::int64_t>::max(), kSecond);
  rule_.phase(-1, kSecond);
}

TEST_F(Hang, ShortStepsMayBeFollowedBySomethingElse) {
  steps(20, kMs);
  EXPECT_EQ(pass(4, 100 * kMs), "");
  EXPECT_NE(pass(2, 100 * kMs), "");
}

TEST_F(Hang, StepsOfAProcessThatHasEndedAreOver) {
  for (int i = 0; i < 20; ++i) rule_.step(9, now_, 10 * kMs);
  EXPECT_EQ(pass(100, kSecond), "");
}

TEST_F(Hang, StepsThatAreNotReadAnyMoreSayNothing) {
  steps(20, 10 * kMs);
  rule_.lose_steps();
  EXPECT_EQ(pass(100, kSecond), "");
}

TEST_F(Hang, TimesThatNobodyHasAreNoSteps) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 20; ++i) {
    rule_.step(7, kMost, kMost);
    rule_.step(7, -1, 10 * kMs);
  }
  EXPECT_EQ(pass(100, kSecond), "");
}

TEST_F(Hang, StepsThatAreNoTimesAreNone) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  steps(20, 10 * kMs);
  for (int i = 0; i < 20; ++i) {
    rule_.step(7, 0, kMost);
    rule_.step(7, kMost, 10 * kMs);
  }
  EXPECT_NE(pass(9, 100 * kMs), "");
}

TEST_F(Hang, FewStepsSayNothing) {
  steps(4, 10 * kMs);
  EXPECT_EQ(pass(500, kSecond), "");
}

}  // namespace
}  // namespace fathom::record
