#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule serial_part();

namespace {

constexpr std::string_view kWorker =
    "_process_worker /usr/lib/python3.11/concurrent/futures/process.py 240;square app.py 7";

/// Prepares for so long, then four workers compute, the last one for longer; ms.
Trace pool(int prepares, int shared, int tail) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(8);
  builder.thread(1, 1).at("main app.py 20;load app.py 3").runs(prepares).at("main app.py 22");
  builder.waits("lock", shared + tail);
  for (int pid = 2; pid <= 5; ++pid) {
    builder.thread(pid, pid).at(kWorker).waits("file", prepares).runs(shared);
    if (pid == 5) builder.runs(tail);
  }
  return trace;
}

std::vector<Finding> findings_of(Trace trace) {
  return JudgedTrace(std::move(trace)).findings(serial_part());
}

bool says(const Finding& finding, const std::string& text) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.text.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(SerialPart, WhatTheMainThreadDoesAloneHasItsGain) {
  const std::vector<Finding> found = findings_of(pool(400, 600, 0));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "Beside a pool of 4 workers, one thread computes alone for 40.0 % of the run, most of "
            "it outside of the pool: load (app.py:3)");
  // 0.4 * (1 - 1/4)
  EXPECT_TRUE(says(found[0], "at most 30.0 % less")) << found[0].evidence[1].text;
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos);
}

TEST(SerialPart, OfAPoolThatWaitsNothingIsGainedByDividingWhatItComputes) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(8).at("main app.py 22").waits("lock", 2000);
  for (int tid = 2; tid <= 5; ++tid) {
    builder.thread(1, tid).at(
        "_worker /usr/lib/python3.11/concurrent/futures/thread.py 58;ask app.py 7");
    builder.waits("file", 120 * tid, "socket:[7]");
    for (int turn = 0; turn < 5; ++turn) builder.runs(20).waits("file", 280, "socket:[7]");
  }
  EXPECT_TRUE(findings_of(std::move(trace)).empty());
}

TEST(SerialPart, ALastLongPieceIsAWorkersOwn) {
  const std::vector<Finding> found = findings_of(pool(0, 500, 500));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("most of it in a worker: square (app.py:7)"), std::string::npos);
  EXPECT_NE(found[0].fix.text.find("smaller pieces"), std::string::npos);
}

TEST(SerialPart, WhereItIsMostOfTheRunNothingElseMattersMore) {
  const std::vector<Finding> most = findings_of(pool(0, 200, 800));
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].weight, Weight::critical);
  const std::vector<Finding> less = findings_of(pool(0, 800, 200));
  ASSERT_EQ(less.size(), 1U);
  EXPECT_EQ(less[0].weight, Weight::warning);
}

TEST(SerialPart, IsSilentWhereTheWorkersShareNearlyAll) {
  EXPECT_TRUE(findings_of(pool(30, 900, 20)).empty());
}

TEST(SerialPart, IsSilentWhereThereIsNoPoolOrNoProcessorForIt) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 20").runs(1000);
  EXPECT_TRUE(findings_of(std::move(trace)).empty());
  Trace one = pool(400, 600, 0);
  one.facts.front().value = "\"1\"";
  EXPECT_TRUE(findings_of(std::move(one)).empty());
}

TEST(SerialPart, IsSilentWhereALockKeepsTheOthers) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid) {
    builder.thread(1, tid).at(
        "_worker /usr/lib/python3.11/concurrent/futures/thread.py 83;parse app.py 7");
    for (int turn = 0; turn < 25; ++turn)
      builder.waits("gil", 10 * (tid - 1)).runs(10).waits("gil", 10 * (4 - tid));
  }
  EXPECT_TRUE(findings_of(std::move(trace)).empty());
}

TEST(SerialPart, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(serial_part()).find("no samples"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
