#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule gil_contention();

namespace {

TEST(GilContention, CountsThreadsThatWait) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("count app.py 5").runs(250).waits("gil", 750);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(gil_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "3 threads on the average wait for Python's global interpreter lock, most in count "
            "(app.py:5)");
}

TEST(GilContention, IsNoVerdictWhereMoreThreadsWaitForAProcessor) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(1);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid).at("digest app.py 5");
    for (int turn = 0; turn < 100; ++turn) builder.runs(10, 30).waits("gil", 5);
  }
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(gil_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].weight, Weight::warning);
}

TEST(GilContention, APoolsOwnThreadsHaveNextToNothingToDoWithTheLock) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.at("main app.py 9").runs(1000);
  for (int tid = 2; tid <= 3; ++tid) {
    builder.thread(1, tid)
        .at("_handle_results /usr/lib/python3.11/multiprocessing/pool.py 5")
        .waits("gil", 1000);
  }
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(gil_contention());
  EXPECT_TRUE(found.empty());
}

TEST(GilContention, WorkersOfAPoolThatRunAFunctionOfALibraryCount) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid)
        .at("_worker /usr/lib/python3.11/concurrent/futures/thread.py 81;"
            "loads /usr/lib/python3.11/json/__init__.py 346")
        .runs(250)
        .waits("gil", 750);
  }
  EXPECT_EQ(JudgedTrace(std::move(trace)).findings(gil_contention()).size(), 1U);
}

TEST(GilContention, AFewWaitsAreFine) {
  Trace trace;
  SampleBuilder(trace).at("count app.py 5").runs(900).waits("gil", 100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(gil_contention());
  EXPECT_TRUE(found.empty());
}

TEST(GilContention, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(gil_contention()).find("no samples"),
            std::string::npos);
}

TEST(GilContention, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("count app.py 5").runs(250).waits("gil", 750);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(gil_contention()).empty());
  EXPECT_EQ(judged.abstains(gil_contention()), "");
}

}  // namespace
}  // namespace fathom
