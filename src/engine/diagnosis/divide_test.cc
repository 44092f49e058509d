#include "engine/diagnosis/divide.h"

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

/// Two kernels of 3000 ns with a gap of 1000 ns between them.
struct Recording {
  Recording() {
    trace.step(1, 0, 10'000);
    trace.runtime("cudaLaunchKernel", 900, 10, 1);
    first = trace.kernel("gemm", 1000, 3000, 1);
    trace.runtime("cudaLaunchKernel", 4900, 10, 2);
    second = trace.kernel("gemm", 5000, 3000, 2);
  }
  TraceBuilder trace;
  SliceId first;
  SliceId second;
};

/// The gap between the two kernels.
std::uint32_t gap_between(const JudgedTrace& judged) {
  const Column<Gap>& gaps = judged.rules().accounting.devices.front().gaps;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].interval.begin == time_ns(4000)) return i;
  }
  return UINT32_MAX;
}

TEST(Ledger, GivesEachNanosecondOnce) {
  Recording recording;
  const JudgedTrace judged(recording.trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{{.slice = recording.first, .time = duration_ns(2000)}};
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(2000));
  claims = {{.slice = recording.first, .time = duration_ns(2000)}};
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(1000)) << "what the first claim left";
  claims = {{.slice = recording.first, .time = duration_ns(1)}};
  EXPECT_EQ(ledger.grant(claims).time, Duration{});
  EXPECT_TRUE(claims.empty());
}

TEST(Ledger, SaysWhatOthersTookOfTheSameTime) {
  Recording recording;
  const JudgedTrace judged(recording.trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{{.slice = recording.first, .time = duration_ns(2000)}};
  EXPECT_EQ(ledger.grant(claims).shared, Duration{});
  claims = {{.slice = recording.first, .time = duration_ns(2500)},
            {.slice = recording.first, .time = duration_ns(2500)},
            {.slice = recording.second, .time = duration_ns(3000)}};
  const Ledger::Granted granted = ledger.grant(claims);
  EXPECT_EQ(granted.time, duration_ns(4000));
  EXPECT_EQ(granted.shared, duration_ns(2000)) << "alone it would be granted all 6000";
  claims = {{.slice = recording.first, .time = duration_ns(9000)}};
  EXPECT_EQ(ledger.grant(claims).shared, duration_ns(3000));
}

TEST(Ledger, GrantsGapsUpToTheirLength) {
  Recording recording;
  const JudgedTrace judged(recording.trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{
      {.device = 0, .gap = gap_between(judged), .time = duration_ns(1'000'000)}};
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(1000));
  EXPECT_EQ(claims.front().time, duration_ns(1000));
}

TEST(Ledger, ObservesTheWholeOfWhatIsClaimedInPart) {
  Recording recording;
  const JudgedTrace judged(recording.trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{claim(judged.rules(), recording.first, 0.5),
                            {.slice = recording.second, .time = duration_ns(1000)}};
  EXPECT_EQ(ledger.observed(claims), duration_ns(4000));
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(2500));
  EXPECT_EQ(ledger.observed(claims), duration_ns(4000)) << "what others took of it does not matter";
}

TEST(Ledger, RefusesWhatIsNotThere) {
  Recording recording;
  const JudgedTrace judged(recording.trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{{.device = 7, .gap = 0, .time = duration_ns(5)},
                            {.slice = recording.second, .time = duration_ns(-5)},
                            {.device = 0, .gap = 1'000'000, .time = duration_ns(5)},
                            {}};
  EXPECT_EQ(ledger.grant(claims).time, Duration{});
  EXPECT_TRUE(claims.empty());
}

TEST(Ledger, SharesOutTheMainThreadWithoutADevice) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  const SliceId op = trace.op("aten::mm", 100, 400);
  trace.op("aten::inner", 200, 100);
  const JudgedTrace judged(trace);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{{.slice = op, .time = duration_ns(400)}};
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(300)) << "its own time, without what it calls";
}

TEST(Ledger, GivesTimeInNoSliceToThePieceOfTheMainThread) {
  TraceBuilder trace;
  trace.op("aten::mm", 0, 100);
  trace.op("aten::mm", 900, 100);
  const JudgedTrace judged(trace);
  const std::vector<HostPiece>& pieces = judged.rules().accounting.host;
  ASSERT_EQ(pieces.size(), 3U);
  Ledger ledger(judged.rules());
  std::vector<Claim> claims{{.gap = 1, .time = duration_ns(500)},
                            {.gap = 1, .time = duration_ns(500)}};
  EXPECT_EQ(ledger.grant(claims).time, duration_ns(800));
  claims = {{.gap = 0, .time = duration_ns(50)}};
  EXPECT_EQ(ledger.grant(claims).time, Duration{}) << "that is the operator's";
}

}  // namespace
}  // namespace fathom
