#include "sample/thread_ledger.h"

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

TEST(ThreadLedger, WhatIsNeitherRunningNorQueuedIsBlocked) {
  ThreadLedger ledger(1000, 50, 7);
  ledger.read(2000, 350, 107);
  EXPECT_EQ(ledger.left().on_cpu, 300);
  EXPECT_EQ(ledger.left().queued, 100);
  EXPECT_EQ(ledger.left().blocked, 600);
}

TEST(ThreadLedger, TimeIsGivenOnce) {
  ThreadLedger ledger(0, 0, 0);
  ledger.read(1000, 200, 100);
  const Spent running = ledger.take_running();
  EXPECT_EQ(running.on_cpu, 200);
  EXPECT_EQ(running.queued, 100);
  EXPECT_EQ(running.blocked, 0);
  EXPECT_FALSE(ledger.take_running().any());
  EXPECT_EQ(ledger.take_blocked(300).blocked, 300);
  EXPECT_EQ(ledger.take_blocked(1000).blocked, 400);
  EXPECT_FALSE(ledger.left().any());
}

TEST(ThreadLedger, LateNumbersOfTheSchedulerAreMadeUpForLater) {
  ThreadLedger ledger(0, 0, 0);
  // It ran all the time; the scheduler wrote down only half of it.
  ledger.read(1000, 500, 0);
  EXPECT_EQ(ledger.take_blocked(5000).blocked, 500);
  ledger.read(2000, 2000, 0);
  EXPECT_EQ(ledger.left().blocked, 0);
  ledger.read(3000, 2000, 0);
  // 3000 = 2000 on the processor + 500 that were given too early + 500.
  EXPECT_EQ(ledger.take_blocked(5000).blocked, 500);
}

TEST(ThreadLedger, NumbersThatGoBackChangeNothing) {
  ThreadLedger ledger(0, 100, 100);
  ledger.read(500, 50, 20);
  EXPECT_EQ(ledger.left().on_cpu, 0);
  EXPECT_EQ(ledger.left().queued, 0);
  EXPECT_EQ(ledger.left().blocked, 500);
}

TEST(ThreadLedger, AllThatWasGivenSumsToTheClock) {
  ThreadLedger ledger(0, 0, 0);
  std::int64_t sum = 0;
  std::int64_t on_cpu = 0;
  std::int64_t queued = 0;
  for (std::int64_t time = 100; time <= 10'000; time += 100) {
    on_cpu += time % 300 == 0 ? 90 : 10;
    queued += time % 700 == 0 ? 5 : 0;
    ledger.read(time, on_cpu, queued);
    const Spent ran = ledger.take_running();
    sum += ran.on_cpu + ran.queued + ledger.take_blocked(time % 3 == 0 ? 1000 : 20).blocked;
  }
  sum += ledger.left().blocked;
  EXPECT_EQ(sum, 10'000);
}

constexpr std::int64_t kLate = 450'000'000;

TEST(BlockedUnseen, AThreadThatWokeOnceWasBlockedWhereItSlept) {
  EXPECT_FALSE(blocked_unseen({.was_asleep = true, .blocked = kLate, .scheduled = 1}));
  EXPECT_TRUE(blocked_unseen({.was_asleep = true, .blocked = kLate, .scheduled = 2}));
}

TEST(BlockedUnseen, OneThatFellAsleepOnceIsBlockedWhereItSleeps) {
  EXPECT_FALSE(blocked_unseen({.is_asleep = true, .blocked = kLate, .scheduled = 0}));
  EXPECT_TRUE(blocked_unseen({.is_asleep = true, .blocked = kLate, .scheduled = 1}));
}

TEST(BlockedUnseen, BetweenTwoPlacesTheTimeIsOfNeither) {
  Between looks{.was_asleep = true, .is_asleep = true, .blocked = kLate, .scheduled = 1};
  EXPECT_TRUE(blocked_unseen(looks));
  looks.same_place = true;
  EXPECT_FALSE(blocked_unseen(looks));
}

TEST(BlockedUnseen, OverAShortTimeTheMetPlacesStandForTheOthers) {
  EXPECT_FALSE(blocked_unseen(
      {.was_asleep = true, .is_asleep = true, .blocked = 30'000'000, .scheduled = 9}));
}

TEST(BlockedUnseen, AThreadThatWasMetRunningTwiceHasSleptSomewhere) {
  EXPECT_TRUE(blocked_unseen({.blocked = kLate, .scheduled = 5}));
}

}  // namespace
}  // namespace fathom::sample
