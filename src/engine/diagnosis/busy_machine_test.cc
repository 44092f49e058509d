#include "engine/diagnosis/busy_machine.h"

#include <string_view>

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
  doubt_operators(trace, device, findings);
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
