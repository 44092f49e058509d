// small-copies: many small copies between host and device.
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/rule.h"

namespace fathom {
namespace small_copies_rule {
namespace {

constexpr std::string_view kDoc =
    "A copy of a few bytes takes as long as one of 64 KiB: it costs a call, a launch and the "
    "link's latency, about 10 us in all. Fires when at least 10 copies of up to 64 KiB per step "
    "between host and device take at least 1 % of it: what they run for, as far as nothing else "
    "does, and the idle time while the host asks for them. Reading values (.item(), nonzero) "
    "belongs to sync-points. Sources: CUDA C++ Best Practices Guide (batch small transfers); "
    "copies up to 64 KiB are staged by the driver (CUDA's API synchronisation behaviour).";

constexpr double kLeastPercent = 1.0;
constexpr std::int64_t kSmall = std::int64_t{64} << 10;
constexpr std::size_t kLeastPerStep = 10;
/// One copy of all remains.
constexpr float kLeft = 0.1F;

struct Found {
  std::vector<HostCopy> copies;
  std::vector<SliceId> askers;
  std::vector<Claim> claims;
};

Found look(const RuleContext& rules) {
  Found found;
  std::vector<Interval> stretches;
  for (const HostCopy& copy : host_copies(rules)) {
    if (copy.bytes < 0 || copy.bytes > kSmall || brings_value(rules, copy)) continue;
    found.copies.push_back(copy);
    found.claims.push_back(claim(rules, copy.activity, 1.0 - kLeft));
    const SliceId asked = asker(rules, copy);
    if (!asked.valid()) continue;
    found.askers.push_back(asked);
    stretches.push_back(interval_of(rules.trace(), asked));
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    claim_idle(rules, stretch, kHostLate, found.claims, 1.0 - kLeft);
  }
  return found;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  Found found = look(rules);
  const Duration time = total(found.claims);
  if (found.copies.size() < kLeastPerStep * rules.steps.size() ||
      rules.percent(time) < kLeastPercent) {
    return std::vector<Finding>{};
  }
  Finding finding;
  finding.title =
      count_text(static_cast<std::int64_t>(found.copies.size() / rules.steps.size())) +
      " small copies per step between host and device: " + per_step(rules, whole(found.claims));
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, found.copies, volume_text(found.copies) + ", none larger than 64 KiB"));
  finding.counter_evidence =
      "Copies that come at different moments, each needed at once, cannot be joined.";
  finding.fix = {
      .text =
          "Join them: put the values into one tensor on the host, pin it, copy once and take "
          "views of it on the device; or make them there. Keep constants on the device "
          "(register_buffer).",
      .before = "lengths = [torch.tensor(n).to(device) for n in sizes]",
      .after = "lengths = torch.tensor(sizes).to(device, non_blocking=True)"};
  finding.verify = "fathom copies TRACE";
  finding.claims = std::move(found.claims);
  for (const SliceId asked : found.askers) scale_tree(rules, asked, kLeft, finding.edits);
  for (const HostCopy& copy : found.copies) {
    finding.edits.scale.emplace_back(copy.activity, kLeft);
  }
  finding.assumption = "one copy does for ten";
  finding.pessimism = 0.3;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace small_copies_rule

Rule small_copies() {
  return {.id = "small-copies",
          .title = "Many small copies between host and device",
          .doc = small_copies_rule::kDoc,
          .check = small_copies_rule::check};
}

}  // namespace fathom
