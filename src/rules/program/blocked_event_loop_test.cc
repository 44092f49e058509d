#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule blocked_event_loop();

namespace {

TEST(BlockedEventLoop, NamesTheTaskThatWaits) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py 1;"
          "Handle._run /usr/lib/python3.11/asyncio/events.py 1;fetch app.py 7")
      .waits("sleep", 500)
      .runs(20);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(blocked_event_loop());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "The event loop is blocked for 100.0 % of its time, up to 520.0 ms at once: fetch "
            "(app.py:7) waits");
}

TEST(BlockedEventLoop, NamesTheTaskThatComputes) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py 1;"
          "Handle._run /usr/lib/python3.11/asyncio/events.py 1;fetch app.py 7")
      .runs(500);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(blocked_event_loop());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("fetch (app.py:7) computes"), std::string::npos);
}

TEST(BlockedEventLoop, ALoopThatWaitsForWorkIsFine) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py 1;"
          "select /usr/lib/python3.11/selectors.py 1")
      .waits("poll", 900);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(blocked_event_loop());
  EXPECT_TRUE(found.empty());
}

TEST(BlockedEventLoop, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(blocked_event_loop()).find("no samples"),
            std::string::npos);
}

TEST(BlockedEventLoop, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder(trace)
      .at("main app.py 1;BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py 1;"
          "Handle._run /usr/lib/python3.11/asyncio/events.py 1;fetch app.py 7")
      .waits("sleep", 500)
      .runs(20);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(blocked_event_loop()).empty());
  EXPECT_EQ(judged.abstains(blocked_event_loop()), "");
}

}  // namespace
}  // namespace fathom
