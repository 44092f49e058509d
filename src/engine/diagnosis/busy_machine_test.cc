#include "engine/diagnosis/busy_machine.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A finding of high confidence about the first slice.
RankedFinding sure() {
  RankedFinding ranked;
  ranked.finding.rule = "unfused-optimizer";
  ranked.finding.confidence = Confidence::high;
  ranked.finding.counter_evidence = "Foreach needs memory.";
  ranked.finding.claims.push_back({.slice = SliceId(0), .time = duration_ns(100)});
  return ranked;
}

Trace with_thread_time(std::string_view preempted) {
  TraceBuilder builder;
  builder.op("aten::add_", 0, 1000);
  builder.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
  builder.fact("thread_time.other.cpu_ns", "300");
  builder.fact("thread_time.other.preempted_ns", preempted);
  return builder.build();
}

Finding doubted(const Trace& trace, std::vector<RankedFinding> findings, std::int32_t device = -1) {
  doubt_operators(trace, {}, device, findings);
  return findings.front().finding;
}

TEST(BusyMachine, TakesConfidenceFromOperatorsOfAThreadWithoutAProcessor) {
  const Finding busy = doubted(with_thread_time("640"), {sure()});
  EXPECT_EQ(busy.confidence, Confidence::medium);
  EXPECT_NE(busy.counter_evidence.find("Foreach needs memory. Operators may be shorter"),
            std::string::npos)
      << busy.counter_evidence;
  EXPECT_NE(busy.counter_evidence.find("without a processor for 64.0 %"), std::string::npos);
  EXPECT_EQ(doubted(with_thread_time("100"), {sure()}).confidence, Confidence::high);
  EXPECT_EQ(doubted(with_thread_time("640"), {sure()}, 0).confidence, Confidence::high);
}

TEST(BusyMachine, IsToldByOtherPrograms) {
  RankedFinding others;
  others.finding.rule = "neighbour";
  others.finding.key = "cpu";
  others.finding.title = "Other programs use 1.6 of 2 processors";
  others.finding.weight = Weight::warning;
  const Finding busy = doubted(with_thread_time("0"), {sure(), others});
  EXPECT_EQ(busy.confidence, Confidence::medium);
  EXPECT_TRUE(busy.counter_evidence.ends_with("others: other programs use 1.6 of 2 processors."))
      << busy.counter_evidence;
  others.finding.weight = Weight::note;
  EXPECT_EQ(doubted(with_thread_time("0"), {sure(), others}).confidence, Confidence::high);
}

/// A finding about steps of these lengths, each of two operators, the last one of `more`.
Finding of_steps(const std::vector<std::int64_t>& lengths, std::int64_t more = 2) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t operators = i + 1 == lengths.size() ? more : 2;
    for (std::int64_t op = 0; op < operators; ++op) builder.op("aten::add_", at + op, 1);
    builder.step(static_cast<std::int64_t>(i), at, lengths[i]);
    at += lengths[i];
  }
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  std::vector<RankedFinding> findings = {sure()};
  doubt_operators(trace, analyses.steps().counted(), -1, findings);
  return findings.front().finding;
}

TEST(BusyMachine, IsToldByStepsOfEqualWorkAndUnequalTime) {
  const Finding busy = of_steps({100, 100, 300, 400, 100, 500, 400, 100});
  EXPECT_EQ(busy.confidence, Confidence::medium);
  EXPECT_NE(busy.counter_evidence.find("steps of as many operators take 100 ns to 500 ns"),
            std::string::npos)
      << busy.counter_evidence;
  EXPECT_EQ(of_steps({100, 110, 130, 120, 100, 500, 100, 100}).confidence, Confidence::high);
  EXPECT_EQ(of_steps({100, 100, 300, 400, 100, 500, 400, 100}, 9).confidence, Confidence::high)
      << "steps that do unequal work take unequal time";
}

TEST(BusyMachine, LeavesWhatIsAboutNoOperator) {
  TraceBuilder builder;
  builder.annotation("enumerate(DataLoader)", 0, 1000);
  builder.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
  builder.fact("thread_time.other.cpu_ns", "300");
  builder.fact("thread_time.other.preempted_ns", "640");
  EXPECT_EQ(doubted(builder.build(), {sure()}).confidence, Confidence::high);
}

}  // namespace
}  // namespace fathom
