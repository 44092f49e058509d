#include "analysis/samples/program_time.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;
const std::string kJoin = "main app.py 1;Thread.join /usr/lib/python3.11/threading.py 1";

double ms(Duration duration) { return static_cast<double>(to_ns(duration)) / 1e6; }

std::optional<ProgramTime> time_of(const Trace& trace) {
  return program_time(trace, StackRoles(trace));
}

TEST(ThreadSums, OnAProcessorQueuedAndBlockedSumToTheWallTime) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("f app.py 1")
      .runs(30, 5)
      .waits("sleep", 50)
      .waits("gil", 15);
  const std::vector<ThreadSum> threads = thread_sums(trace, StackRoles(trace));
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(to_ns(threads[0].wall()), 100 * kMs);
  EXPECT_EQ(threads[0].end - threads[0].begin, threads[0].wall());
  EXPECT_EQ(to_ns(threads[0].queued), 5 * kMs);
  Duration waits{};
  for (const Duration wait : threads[0].waits) waits += wait;
  EXPECT_EQ(waits, threads[0].blocked);
  EXPECT_EQ(to_ns(threads[0].waited(WaitClass::gil)), 15 * kMs);
}

TEST(ProgramTime, WithoutSamplesNothingIsKnown) {
  Trace trace;
  EXPECT_FALSE(time_of(trace));
  SampleBuilder(trace).runs(20);
  EXPECT_FALSE(time_of(trace)) << "20 ms are too few";
}

TEST(ProgramTime, ItsActivityIsTheWallTimeOfTheMainThread) {
  Trace trace;
  SampleBuilder(trace).at("work app.py 5").runs(46, 888).waits("sync", 66, "/data/log");
  const auto alone = time_of(trace);
  ASSERT_TRUE(alone);
  EXPECT_NEAR(alone->activity.share(alone->activity.on_cpu), 0.046, 0.0001);
  EXPECT_NEAR(alone->activity.share(alone->activity.queued), 0.888, 0.0001);
  EXPECT_NEAR(alone->activity.share(alone->activity.blocked()), 0.066, 0.0001);
  EXPECT_NEAR(alone->computing(), 46.0 / 112, 0.0001) << "the run queue left out";

  Trace joins;
  SampleBuilder(joins)
      .thread(1, 1)
      .at("main app.py 1")
      .runs(100, 100)
      .at(kJoin)
      .waits("lock", 800)
      .thread(1, 2)
      .at("work app.py 5")
      .runs(200, 500)
      .waits("file", 100, "/data/log");
  const auto time = time_of(joins);
  ASSERT_TRUE(time);
  EXPECT_NEAR(ms(time->activity.whole()), 1000, 0.001) << "others count in place of the wait";
  EXPECT_NEAR(ms(time->activity.on_cpu), 300, 0.001);
  EXPECT_NEAR(ms(time->activity.queued), 600, 0.001);
  EXPECT_EQ(time->whose, std::pair(std::int64_t{1}, std::int64_t{1}));
}

TEST(ProgramTime, TheRunQueueIsDividedByWhatAThreadDoesAtAPlace) {
  Trace trace;
  SampleBuilder(trace)
      .at("work app.py 5")
      .runs(100, 300)
      .at("store app.py 7")
      .runs(50, 400)
      .waits("sync", 150, "/data/log");
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  // All of the first place's, a quarter of the second's.
  EXPECT_NEAR(ms(time->queued_to_compute), 400, 0.001);
  EXPECT_NEAR(ms(time->to_compute()), 550, 0.001);
}

TEST(ProgramTime, TheWorkOfFsyncIsNoComputing) {
  Trace trace;
  SampleBuilder(trace)
      .at("store app.py 7;fsync /usr/lib/libc.so.6 -1")
      .runs(60, 200)
      .waits("sync", 40, "/data/log");
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(ms(time->syncing), 60, 0.001);
  EXPECT_EQ(time->computing(), 0);
  EXPECT_EQ(to_ns(time->to_compute()), 0);
}

TEST(ProgramTime, AMainThreadThatWaitsForAnotherDoesWhatThatDoes) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at(kJoin)
      .waits("lock", 1000)
      .thread(1, 2)
      .at("work app.py 5")
      .runs(900)
      .waits("sleep", 100);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_TRUE(time->by_others);
  EXPECT_NEAR(time->activity.share(time->activity.on_cpu), 0.9, 0.001);
  EXPECT_EQ(time->activity.longest(), WaitClass::sleep);
}

TEST(ProgramTime, AnIdlePoolIsNoProgramThatComputes) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at(kJoin).waits("lock", 10000);
  for (int tid = 2; tid < 6; ++tid) {
    builder.thread(1, tid)
        .at("work app.py 5;Queue.get /usr/lib/python3.11/queue.py 1")
        .runs(1)
        .waits("lock", 9999);
  }
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_LT(time->activity.share(time->activity.on_cpu), 0.01);
  EXPECT_EQ(time->activity.longest(), WaitClass::threads);
}

TEST(ProgramTime, ChildrenOneAfterTheOtherCountTogether) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at("main app.py 1").waits("child", 4000);
  builder.thread(2, 2, "sort").at("").runs(1000);
  for (int pid = 3; pid < 6; ++pid) builder.thread(pid, pid, "curl").at("").waits("file", 1000);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->activity.share(time->activity.on_cpu), 0.25, 0.001);
}

TEST(ProgramTime, AMainThreadThatSleepsBesideAWorkerIsTheWorker) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("main app.py 1")
      .waits("sleep", 1000)
      .thread(1, 2)
      .at("serve app.py 5")
      .runs(900)
      .waits("file", 100);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_TRUE(time->by_others);
  EXPECT_NEAR(time->activity.share(time->activity.on_cpu), 0.9, 0.001);
  EXPECT_EQ(time->whose, std::pair(std::int64_t{1}, std::int64_t{2}));
}

TEST(ProgramTime, AWorkersOwnWaitsForOthersAreOfItsTime) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("main app.py 1")
      .waits("sleep", 1000)
      .thread(1, 2)
      .at("serve app.py 5;Queue.get /usr/lib/python3.11/queue.py 1")
      .runs(700)
      .waits("lock", 300);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(ms(time->activity.whole()), 1000, 0.001);
  EXPECT_NEAR(ms(time->activity.waited(WaitClass::threads)), 300, 0.001);
  EXPECT_EQ(to_ns(time->counted(trace.stack_samples.back(), WaitClass::threads)), 300 * kMs);
}

TEST(ProgramTime, AMainThreadThatWorksIsNotItsIdleThreads) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at("work app.py 5").runs(1000);
  for (int tid = 2; tid < 12; ++tid)
    builder.thread(1, tid).at("read app.py 9").waits("file", 1000, "socket:[7]");
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_FALSE(time->by_others);
  EXPECT_EQ(time->activity.share(time->activity.on_cpu), 1);
}

TEST(ProgramTime, AChildThatIsWaitedForCounts) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("main app.py 1")
      .waits("child", 1000)
      .thread(2, 2, "sort")
      .at("")
      .runs(1000);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->activity.share(time->activity.on_cpu), 1);
}

TEST(ProgramTime, QueuesCountWhereTheProgramItselfWantsMoreThanThereIs) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid).at("work app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  }
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  ASSERT_TRUE(time->starved);
  EXPECT_NEAR(time->average(*time->starved), 3, 0.01);
}

TEST(ProgramTime, QueuesBehindOtherProgramsDoNotCount) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1).thread(1, 1).at("work app.py 5");
  for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(to_ns(time->queued), 1500 * kMs);
  EXPECT_EQ(to_ns(*time->starved), 0);
}

TEST(ProgramTime, ALookThatCameLateIsNoDemandOfOneMoment) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1).at("work app.py 5");
  for (int turn = 0; turn < 5; ++turn) builder.runs(600, 600);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(to_ns(*time->starved), 0) << "1.2 s that were ready within 1.2 s";
  EXPECT_EQ(to_ns(*time->displaced()), 3000 * kMs);
}

TEST(ProgramTime, LooksThatCameLateAreSpreadOverAllOfTheirTime) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1);
  for (int tid = 1; tid <= 2; ++tid) builder.thread(1, tid).at("work app.py 5").runs(1500, 1500);
  builder.thread(1, 3).at("work app.py 5").runs(50, 50);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(ms(*time->starved), 3050, 0.001) << "all that waited";
}

TEST(ProgramTime, ALongSleepBetweenIsNoDemand) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1).at("work app.py 5");
  constexpr std::int64_t kYears = 200'000'000'000;  // 6 of them
  builder.runs(100).waits("sleep", kYears).runs(100, 100);
  builder.thread(1, 2).runs(100).waits("sleep", kYears).runs(100, 100);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(to_ns(*time->starved), 0);
}

TEST(ProgramTime, OfManyThreadsOnlyWhatTheyWantTogetherCounts) {
  Trace trace;
  SampleBuilder builder(trace);
  // Three that want to run all the time, on a machine that others use as well.
  builder.processors(2);
  for (int tid = 1; tid <= 3; ++tid) {
    builder.thread(1, tid).at("work app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  }
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->average(*time->starved), 1, 0.01) << "of 2.25 that wait";
}

TEST(ProgramTime, ThreadsThatWaitAtATimeDoNotAddUp) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at("slow app.py 3").waits("sleep", 1000).at(kJoin).waits("lock", 400);
  for (int tid = 2; tid < 7; ++tid)
    builder.thread(1, tid).at("worker app.py 5").waits("sleep", 400);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->activity.longest(), WaitClass::sleep);
  EXPECT_NEAR(ms(time->activity.waited(WaitClass::sleep)), 1400, 1e-5);
  Duration main{};
  Duration others{};
  for (const StackSample& sample : trace.stack_samples) {
    if (trace.text(sample.cause) == "sleep")
      (sample.tid == 1 ? main : others) += time->counted(sample, WaitClass::sleep);
  }
  EXPECT_NEAR(ms(main), 1000, 1e-5);
  EXPECT_NEAR(ms(others), 400, 1e-5);
}

TEST(ProgramTime, ThreadsOfAProgramWithoutPythonAreItsOwn) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1, "lockc").at("").waits("lock", 1500);
  for (int tid = 2; tid < 5; ++tid)
    builder.thread(1, tid, "lockc").waits("sleep", 500).waits("lock", 1000);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_TRUE(time->by_others);
  EXPECT_EQ(time->activity.longest(), WaitClass::sleep);
  EXPECT_GT(time->activity.share(time->activity.waited(WaitClass::sleep)), 0.9);
}

TEST(ProgramTime, WhereNothingOfOthersIsKnownTheyAreNotCounted) {
  Trace trace;
  SampleBuilder(trace).at(kJoin).waits("lock", 1000);
  EXPECT_FALSE(time_of(trace)->by_others);
}

void ended(Trace& trace, std::int64_t user_ms) {
  trace.process_runs.push_back(
      {.pid = 1, .role = trace.strings.intern("main"), .user_ns = user_ms * kMs, .system_ns = 0});
}

TEST(ProgramTime, AChildThatWasNotSampledHasComputed) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(100).waits("child", 520);
  ended(trace, 600);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(to_ns(time->unsampled), 500 * kMs);
  EXPECT_NEAR(time->activity.share(time->activity.on_cpu), 600.0 / 620, 0.001);
}

TEST(ProgramTime, OneThatNobodyWaitedForHasToo) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(50).waits("file", 550, "pipe:[7]");
  ended(trace, 500);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->activity.share(time->activity.on_cpu), 1);
}

TEST(ProgramTime, AFewTicksAreNoProcessThatWasMissed) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(1000);
  ended(trace, 1060);
  EXPECT_EQ(to_ns(time_of(trace)->unsampled), 0);
}

TEST(ProgramTime, WaitersForALockAreCountedWithoutTheirTimeInTheQueue) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("work app.py 5").runs(50, 800).waits("gil", 150);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->gil_waiters, 3, 0.001);
  EXPECT_EQ(time->lock_waiters, 0);
  EXPECT_EQ(to_ns(time->gil), 600 * kMs);
}

/// Each thread takes turns: it runs, waits for a processor and for a lock; ms.
Trace turns_at_a_lock(int threads, int runs, int queued, int locked) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(2);
  for (int tid = 1; tid <= threads; ++tid) {
    builder.thread(1, tid).at("update app.py 5");
    for (int turn = 0; turn < 50; ++turn) builder.waits("lock", locked).runs(runs, queued);
  }
  return trace;
}

TEST(ProgramTime, WhomALockHasWokenWantsAProcessorForItsTurnOnly) {
  // Four of eight are ready at a time, on two processors that others use as well.
  const Trace trace = turns_at_a_lock(8, 2, 18, 20);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->average(time->queued), 3.6, 0.1);
  EXPECT_EQ(to_ns(*time->starved), 0) << "without a queue 0.7 of them would run at a time";
  EXPECT_NEAR(time->average(*time->own_queue), 2, 0.1);
}

TEST(ProgramTime, ThreadsThatWaitForALockAndComputeMuchWantProcessorsAsWell) {
  const Trace trace = turns_at_a_lock(12, 6, 24, 6);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  // Of each turn of 36 ms a thread would run for half if there were no queue.
  EXPECT_NEAR(time->average(*time->starved), 4, 0.1);
}

TEST(ProgramTime, OthersThatWaitForALockTakeNothingFromThoseThatCompute) {
  Trace trace = turns_at_a_lock(4, 1, 1, 38);
  SampleBuilder builder(trace);
  builder.processors(2);
  for (int tid = 11; tid <= 16; ++tid) {
    builder.thread(1, tid).at("work app.py 9");
    for (int turn = 0; turn < 100; ++turn) builder.runs(6, 14);
  }
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  EXPECT_GT(time->average(*time->starved), 3.9);
}

TEST(ProgramTime, HowManyProcessorsThereAreMayNotBeKnown) {
  Trace trace;
  SampleBuilder(trace).runs(500, 500);
  EXPECT_FALSE(time_of(trace)->starved);
}

const std::string kLoop =
    "main app.py 1;BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py 1";
const std::string kSelect = kLoop + ";select /usr/lib/python3.11/selectors.py 1";
const std::string kCall = kLoop + ";Handle._run /usr/lib/python3.11/asyncio/events.py 1;";

TEST(ProgramTime, ACallbackThatIsMetAgainAndAgainBlocksItsLoop) {
  Trace trace;
  SampleBuilder(trace)
      .at(kSelect)
      .waits("poll", 100)
      .at(kCall + "fetch app.py 7")
      .waits("sleep", 80)
      .runs(40)
      .at(kSelect)
      .waits("poll", 100);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->stretches.size(), 1U);
  EXPECT_EQ(to_ns(time->stretches[0].length()), 120 * kMs);
  EXPECT_EQ(to_ns(time->stretches[0].begin), 100 * kMs);
  EXPECT_EQ(time->loop_blocked, time->stretches[0].length());
  EXPECT_EQ(to_ns(time->loops), 320 * kMs);
  EXPECT_EQ(to_ns(time->loops_queued), 0);
}

TEST(ProgramTime, LongWaitsOfACallbackAreAStretchEach) {
  Trace trace;
  SampleBuilder builder(trace);
  // Each with a turn of the loop behind it that was not met.
  for (int turn = 0; turn < 6; ++turn)
    builder.at(kCall + "bad app.py 4").runs(1).waits("sleep", 250);
  builder.at(kSelect).waits("poll", 300);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->stretches.size(), 6U);
  EXPECT_LE(to_ns(time->stretches[0].length()), 252 * kMs);
  EXPECT_EQ(time->stretches[0].waits, 1U);
  EXPECT_EQ(to_ns(time->loop_blocked), 6 * 251 * kMs);
  EXPECT_EQ(to_ns(time->longest_unmet), 6 * 251 * kMs);
}

TEST(ProgramTime, AWaitThatIsSampledInPartsIsOneStretch) {
  Trace trace;
  SampleBuilder(trace)
      .at(kCall + "bad app.py 4")
      .waits("sleep", 5000)
      .waits("sleep", 5000)
      .waits("sleep", 2000)
      .at(kSelect)
      .waits("poll", 100);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->stretches.size(), 1U);
  EXPECT_EQ(to_ns(time->stretches[0].length()), 12000 * kMs);
  EXPECT_EQ(time->stretches[0].waits, 1U);
}

TEST(ProgramTime, ShortWaitsInOneCallbackAreOneStretch) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int turn = 0; turn < 20; ++turn)
    builder.at(kCall + "bad app.py 4").runs(1).waits("sleep", 20);
  const auto time = time_of(trace);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->stretches.size(), 1U);
  EXPECT_EQ(time->stretches[0].waits, 20U);
}

TEST(ProgramTime, ShortCallbacksDoNot) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int turn = 0; turn < 20; ++turn) {
    builder.at(kCall + "fetch app.py 7").runs(20).at(kSelect).waits("poll", 10);
    builder.at(kCall + "fetch app.py 7").runs(30).at(kCall + "other app.py 9").runs(30);
    builder.at(kSelect).waits("poll", 10);
  }
  EXPECT_TRUE(time_of(trace)->stretches.empty());
}

}  // namespace
}  // namespace fathom
