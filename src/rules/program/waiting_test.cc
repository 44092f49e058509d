#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule waiting();

namespace {

TEST(Waiting, SaysForWhatAndWhere) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1;ask app.py 7").waits("file", 900, "socket:[77]").runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "The program waits for 90.0 % of its time, longest for a socket: ask (app.py:7)");
  EXPECT_EQ(found[0].weight, Weight::critical);
}

TEST(Waiting, TheRecordersStartIsNoFunctionOfTheProgram) {
  Trace trace;
  SampleBuilder(trace)
      .at("<module> /tmp/s/hook/sitecustomize.py 60;_begin /tmp/s/hook/sitecustomize.py 30")
      .waits("file", 900, "/usr/lib/x.so")
      .runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.ends_with(": Fathom's own recorder")) << found[0].title;
}

TEST(Waiting, ThreadsThatWaitAtATimeAreNotTheLongest) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.at("slow app.py 3").waits("sleep", 1000);
  builder.at("main app.py 1;Thread.join /usr/lib/python3.11/threading.py 1").waits("lock", 400);
  for (int tid = 2; tid < 7; ++tid)
    builder.thread(1, tid).at("worker app.py 5").waits("sleep", 400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("(sleep): slow (app.py:3)"), std::string::npos) << found[0].title;
}

TEST(Waiting, SaysWhereOtherProgramsHadTheProcessors) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(2).at("ask app.py 7").waits("file", 900, "socket:[77]");
  for (int turn = 0; turn < 10; ++turn) builder.runs(5, 55);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  const bool said = std::ranges::any_of(found[0].evidence, [](const Evidence& evidence) {
    return evidence.text.find("busy with other programs") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(Waiting, IsAWarningWhereItComputesMore) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(700).waits("sleep", 300);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].weight, Weight::warning) << "it is no verdict where computing takes more";
}

TEST(Waiting, IsSilentWhereTheProgramComputes) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(900).waits("sleep", 100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  EXPECT_TRUE(found.empty());
}

TEST(Waiting, OfAProgramWithoutPythonNoPythonIsAdvised) {
  Trace trace;
  SampleBuilder(trace).at("main /opt/poll -1;look() /opt/poll -1").waits("sleep", 900).runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("look() (poll)"), std::string::npos) << found[0].title;
  EXPECT_EQ(found[0].fix.before, "");
  EXPECT_EQ(found[0].fix.after, "");
  EXPECT_NE(found[0].fix.text.find("a condition variable"), std::string::npos);
}

TEST(Waiting, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(waiting()).find("no samples"), std::string::npos);
}

TEST(Waiting, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder(trace).at("main app.py 1;ask app.py 7").waits("file", 900, "socket:[77]").runs(100);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(waiting()).empty());
  EXPECT_EQ(judged.abstains(waiting()), "");
}

}  // namespace
}  // namespace fathom
