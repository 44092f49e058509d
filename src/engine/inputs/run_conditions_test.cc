#include "engine/inputs/run_conditions.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::string warnings(const Trace& trace) {
  const Fact* const fact = trace.fact("WARNING");
  return fact == nullptr ? "" : fact->value;
}

TEST(RunConditions, WarnOfATraceThatWasBeingRecorded) {
  Trace trace;
  ASSERT_TRUE(add_conditions(trace, R"({"pid": 12, "unfinished_trace": true})"));
  EXPECT_NE(warnings(trace).find("process 12 was ended while torch.profiler recorded"),
            std::string::npos);
}

TEST(RunConditions, WarnOfNothingWhereTheTraceWasSaved) {
  Trace trace;
  ASSERT_TRUE(add_conditions(trace, R"({"pid": 12, "unfinished_trace": false})"));
  EXPECT_EQ(warnings(trace), "");
}

TEST(RunConditions, WarnOfWhatAKilledProgramCouldNotHandOver) {
  Trace trace;
  constexpr std::string_view kManifest =
      R"({"ended_unix_ns": 1, "exit": {"code": null, "signal": "SIGKILL"}})";
  ASSERT_TRUE(add_manifest(trace, kManifest));
  EXPECT_NE(warnings(trace).find("SIGKILL"), std::string::npos);
}

TEST(RunConditions, WarnOfNothingWhereAProgramEndedByItself) {
  Trace trace;
  ASSERT_TRUE(add_manifest(trace, R"({"ended_unix_ns": 1, "exit": {"code": 1, "signal": null}})"));
  EXPECT_EQ(warnings(trace), "");
}

TEST(RunConditions, LeaveTheCostOfRecordingToEachProcess) {
  Trace trace;
  ASSERT_TRUE(add_manifest(trace, R"({"ended_unix_ns": 1, "overhead": {"ratio": 2.0}})"));
  EXPECT_EQ(trace.fact("overhead.ratio"), nullptr);
  ASSERT_TRUE(add_conditions(trace, R"({"overhead": {"ratio": 1.5}})"));
  ASSERT_NE(trace.fact("overhead.ratio"), nullptr);
}

TEST(RunConditions, KnowTheVersionsThatAreRead) {
  EXPECT_EQ(stated_schema(R"({"schema": "fathom-process/2"})"), "fathom-process/2");
  EXPECT_FALSE(unknown_version("fathom-process/1", kProcessSchema, kNewestProcess));
  EXPECT_EQ(unknown_version("fathom-process/2", kProcessSchema, kNewestProcess), "2");
  EXPECT_EQ(unknown_version("fathom-process/x", kProcessSchema, kNewestProcess), "x");
  EXPECT_EQ(unknown_version("fathom-process/", kProcessSchema, kNewestProcess), "");
  EXPECT_FALSE(unknown_version("", kProcessSchema, kNewestProcess));
  EXPECT_FALSE(unknown_version("another/2", kProcessSchema, kNewestProcess));
}

}  // namespace
}  // namespace fathom
