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
    "does, and the idle time while the host asks for them. Uploads of up to 8 bytes are single "
    "numbers; where they are half of the copies or more, that is reported. Reading values "
    "(.item(), nonzero) belongs to sync-points. Sources: CUDA C++ Best Practices Guide (batch "
    "small transfers); "
    "copies up to 64 KiB are staged by the driver (CUDA's API synchronisation behaviour).";

constexpr double kLeastPercent = 1.0;
constexpr std::int64_t kSmall = std::int64_t{64} << 10;
constexpr std::size_t kLeastPerStep = 10;
/// A number of any type.
constexpr std::int64_t kNumber = 8;
/// One copy of all remains.
constexpr float kLeft = 0.1F;

struct Found {
  std::vector<HostCopy> copies;
  std::vector<SliceId> askers;
  std::vector<Claim> claims;
  std::size_t numbers = 0;
  [[nodiscard]] bool mostly_numbers() const { return 2 * numbers >= copies.size(); }
};

Found look(const RuleContext& rules) {
  Found found;
  std::vector<Interval> stretches;
  const AroundCopies around(rules);
  for (const HostCopy& copy : host_copies(rules)) {
    if (copy.bytes < 0 || copy.bytes > kSmall || around.brings_value(copy)) continue;
    found.copies.push_back(copy);
    if (copy.kind == CopyKind::h2d && copy.bytes <= kNumber) ++found.numbers;
    found.claims.push_back(claim(rules, copy.activity, 1.0 - kLeft));
    const SliceId asked = around.asker(copy);
    if (!asked.valid()) continue;
    found.askers.push_back(asked);
    stretches.push_back(interval_of(rules.trace(), asked));
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    claim_idle(rules, stretch, kHostLate, found.claims, 1.0 - kLeft);
  }
  return found;
}

/// "12 small copies per step", or, where most are, "12 small copies per step (10 of single
/// numbers)".
std::string title_of(const RuleContext& rules, const Found& found) {
  const auto per = [&](std::size_t count) {
    return count_text(static_cast<std::int64_t>(count / rules.steps.size()));
  };
  return per(found.copies.size()) + " small copies per step between host and device" +
         (found.mostly_numbers() ? ", " + per(found.numbers) + " of them of single numbers: "
                                 : ": ") +
         per_step(rules, whole(found.claims));
}

Fix fix_of(const Found& found) {
  if (found.mostly_numbers()) {
    return {.text =
                "Pass plain Python numbers to operators, which then copy nothing; fill a tensor "
                "on the device (torch.full(shape, x, device=device)); and put numbers that have "
                "to be tensors into one, and copy that once. Constants belong into "
                "register_buffer. Caveat: a Python number in compiled code may compile it anew "
                "for each value.",
            .before = "y = x * torch.tensor(scale, device=x.device)",
            .after = "y = x * scale"};
  }
  return {.text =
              "Join them: put the values into one tensor on the host, pin it, copy once and take "
              "views of it on the device; or make them there. Keep constants on the device "
              "(register_buffer).",
          .before = "lengths = [torch.tensor(n).to(device) for n in sizes]",
          .after = "lengths = torch.tensor(sizes).to(device, non_blocking=True)"};
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
  finding.title = title_of(rules, found);
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, found.copies, volume_text(found.copies) + ", none larger than 64 KiB"));
  finding.counter_evidence =
      "Copies that come at different moments, each needed at once, cannot be joined.";
  finding.fix = fix_of(found);
  finding.verify = "fathom copies TRACE";
  finding.claims = std::move(found.claims);
  scale_trees(rules, found.askers, kLeft, finding.edits);
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
