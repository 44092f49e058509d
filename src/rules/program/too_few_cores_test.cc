#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

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

TEST(TooFewCores, IsSilentWhereOtherProgramsAreInTheWay) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(4).at("work app.py 5");
  for (int turn = 0; turn < 100; ++turn) builder.runs(5, 15);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(too_few_cores());
  EXPECT_TRUE(found.empty());
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
