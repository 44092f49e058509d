#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule placement();

namespace {

/// An upload of 1 MiB from that memory in `duration` ns, in a step of a million ns.
Outcome judge(MemoryKind source, std::int64_t duration, double peak) {
  TraceBuilder builder;
  builder.step(0, 0, 1'000'000);
  builder.runtime("cudaMemcpyAsync", 10, 10, 1);
  builder.copy(CopyKind::h2d, 100, duration, 1, 1 << 20).memory(source, MemoryKind::device);
  const JudgedTrace judged(builder);
  DeviceSpec spec;
  spec.name = "test device";
  spec.pcie_bandwidth = peak;
  const Roofline roofline{.device = &spec, .note = {}, .rows = {}, .without_operator = {}};
  const RuleContext& given = judged.rules();
  const RuleContext rules{.context = given.context,
                          .accounting = given.accounting,
                          .roofline = roofline,
                          .syncs = given.syncs,
                          .sites = given.sites,
                          .self_times = given.self_times,
                          .steps = given.steps,
                          .device = given.device};
  return placement().check(rules);
}

constexpr double kPeak = 32e9;

TEST(Placement, IsToldWherePinnedUploadsAreSlow) {
  Outcome outcome = judge(MemoryKind::pinned, 200'000, kPeak);
  const auto* const findings = std::get_if<std::vector<Finding>>(&outcome);
  ASSERT_NE(findings, nullptr);
  ASSERT_EQ(findings->size(), 1U);
  // 1 MiB takes 41 us at 80 % of the peak.
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings->front().claims))), 200'000 - 40'960, 100);
}

TEST(Placement, IsFineWhereTheLinkIsReached) {
  const Outcome outcome = judge(MemoryKind::pinned, 50'000, kPeak);
  const auto* const findings = std::get_if<std::vector<Finding>>(&outcome);
  ASSERT_NE(findings, nullptr);
  EXPECT_TRUE(findings->empty());
}

TEST(Placement, AbstainsWithoutPinnedUploads) {
  EXPECT_TRUE(std::holds_alternative<Abstention>(judge(MemoryKind::pageable, 200'000, kPeak)));
}

TEST(Placement, AbstainsWhereTheLinkIsNotKnown) {
  EXPECT_TRUE(std::holds_alternative<Abstention>(judge(MemoryKind::pinned, 200'000, 0)));
}

}  // namespace
}  // namespace fathom
