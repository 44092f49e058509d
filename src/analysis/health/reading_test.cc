// What health says about files that end early, that were damaged, or whose recorder dropped
// records.
#include <gtest/gtest.h>

#include "analysis/health/health.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A device whose work has no launch, which is bad whatever else is found.
Trace launchless() {
  TraceBuilder builder;
  for (int i = 0; i < 200; ++i) builder.kernel("gemm", 100 * i, 50, 1);
  builder.runtime("cudaLaunchKernel", 0, 5, 77);
  return builder.build();
}

Health health_of(const Trace& trace) {
  const Analyses analyses(trace);
  return compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
}

std::vector<std::string_view> losses_of(const Trace& trace) {
  const Health health = health_of(trace);
  std::vector<std::string_view> ids;
  for (const HealthCheck* const loss : health.losses_beside_summary()) ids.push_back(loss->id);
  return ids;
}

using Ids = std::vector<std::string_view>;

TEST(HealthReading, ATruncatedFileIsALossBesideAGraverFinding) {
  Trace trace = launchless();
  trace.import.add(Repair::truncated, 900);
  EXPECT_EQ(health_of(trace).summary(),
            "200 of 200 device activities have no launch: host attribution is incomplete (and 2 "
            "more findings)");
  EXPECT_EQ(losses_of(trace), Ids{"truncated"});
}

std::string warned(std::string_view log) {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  builder.fact("WARNING", log);
  const Trace trace = builder.build();
  const Health health = health_of(trace);
  return health.find("recorder_warnings")->sentence();
}

TEST(HealthReading, AWarningIsSaidWhereItIsTheCause) {
  EXPECT_EQ(warned(R"(["manifest.json is missing"])"),
            "1 warning about the recording: manifest.json is missing");
  EXPECT_EQ(warned(R"(["one", "two"])"), "2 warnings about the recording, first: one");
}

TEST(HealthReading, WhatWasReadAsMeantIsNoLoss) {
  Trace trace = launchless();
  trace.import.add(Repair::trailing_comma, 10);
  trace.import.add(Repair::invalid_utf8, 10);
  trace.import.add_unknown("kind");
  EXPECT_EQ(losses_of(trace), Ids{});
}

TEST(HealthReading, ALossThatTheSummaryNamesIsNotNamedAgain) {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  Trace trace = builder.build();
  trace.import.add(Repair::truncated, 900);
  EXPECT_EQ(losses_of(trace), Ids{});
  trace.import.add(Repair::decompression, 900);
  EXPECT_EQ(losses_of(trace), Ids{"decompression"});
}

TEST(HealthReading, AFileThatEndsBetweenTwoEventsMayLackSome) {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  Trace trace = builder.build();
  trace.import.add(Repair::missing_close, 900);
  EXPECT_EQ(losses_of(trace), Ids{"missing_close"});
}

TEST(HealthReading, RecordsThatTheRecorderDroppedAreALoss) {
  Trace trace = launchless();
  trace.facts.push_back(
      {.key = "INFO",
       .value = R"(["Record counts: Out-of-range = 12, Invalid ext correlations = 3"])"});
  EXPECT_EQ(losses_of(trace), Ids{"records_out_of_range"});
}

}  // namespace
}  // namespace fathom
