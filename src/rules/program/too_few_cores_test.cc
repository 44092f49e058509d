#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule lock_contention();
Rule too_few_cores();

namespace {

TEST(TooFewCores, CountsThreadsThatCouldRun) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid).at("work app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  }
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(too_few_cores());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "Too few processors: beside the running ones, 3 threads on the average wait for one of "
            "1 processor");
}

/// What is to be started instead: three processes with two threads each.
std::string advised(std::string_view stack) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(4);
  trace.facts.push_back({"command", R"(["python","app.py"])"});
  for (int pid = 1; pid <= 3; ++pid) {
    for (int tid = 0; tid < 2; ++tid) {
      builder.thread(pid, 10 * pid + tid).at(stack);
      for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
    }
  }
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(too_few_cores());
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? "" : found[0].fix.after;
}

TEST(TooFewCores, EachProcessGetsItsPartOfTheProcessorsByItsLibrarysOwnVariable) {
  EXPECT_EQ(advised("solve app.py 5;gemm /env/numpy.libs/libscipy_openblas64_.so -1"),
            "OPENBLAS_NUM_THREADS=1 python app.py");
  EXPECT_EQ(advised("work app.py 5"), "") << "nothing there takes such a variable";
}

TEST(TooFewCores, IsSilentWhereOtherProgramsAreInTheWay) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(4).at("work app.py 5");
  for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(too_few_cores());
  EXPECT_TRUE(found.empty());
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

TEST(TooFewCores, IsSilentWhereALockWakesThreadsOnABusyMachine) {
  const JudgedTrace judged(turns_at_a_lock(8, 2, 18, 20));
  EXPECT_TRUE(judged.findings(too_few_cores()).empty());
  const std::vector<Finding> locks = judged.findings(lock_contention());
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].weight, Weight::critical);
}

TEST(TooFewCores, OfLocksAndProcessorsWhatMoreThreadsWaitForIsTheVerdict) {
  const JudgedTrace few(turns_at_a_lock(12, 6, 24, 3));
  ASSERT_EQ(few.findings(too_few_cores()).size(), 1U);
  ASSERT_EQ(few.findings(lock_contention()).size(), 1U);
  EXPECT_EQ(few.findings(too_few_cores())[0].weight, Weight::critical);
  EXPECT_EQ(few.findings(lock_contention())[0].weight, Weight::warning);
  const JudgedTrace locks(turns_at_a_lock(24, 6, 24, 36));
  ASSERT_EQ(locks.findings(too_few_cores()).size(), 1U);
  ASSERT_EQ(locks.findings(lock_contention()).size(), 1U);
  EXPECT_EQ(locks.findings(too_few_cores())[0].weight, Weight::warning);
  EXPECT_EQ(locks.findings(lock_contention())[0].weight, Weight::critical);
  EXPECT_NE(locks.findings(too_few_cores())[0].counter_evidence.find("wait for a lock"),
            std::string::npos);
}

TEST(TooFewCores, SaysHowMuchOfTheRunQueueItIs) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(2);
  for (int tid = 1; tid <= 3; ++tid) {
    builder.thread(1, tid).at("work app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  }
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(too_few_cores());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].evidence[0].text,
      "threads were on a processor for 1.500 s and in the run queue for 4.500 s, all together; "
      "more processors would end 2.000 s of that in a run of 2.000 s");
}

TEST(TooFewCores, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(too_few_cores()).find("no samples"),
            std::string::npos);
}

TEST(TooFewCores, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder builder(trace);
  builder.processors(1);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid).at("work app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  }
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(too_few_cores()).empty());
  EXPECT_EQ(judged.abstains(too_few_cores()), "");
}

}  // namespace
}  // namespace fathom
