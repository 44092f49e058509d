// buffer-broadcasts: DistributedDataParallel sends buffers of rank 0 in each forward pass.
#include <algorithm>
#include <string>

#include "analysis/structure/from_outside.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {
namespace buffer_broadcasts_rule {
namespace {

constexpr std::string_view kDoc =
    "DistributedDataParallel copies the buffers of rank 0 (running statistics of batch norm, "
    "masks) to all ranks before each forward pass, unless broadcast_buffers=False. Nothing can "
    "run beside it, for the forward pass uses them. Counted are broadcasts launched inside "
    "DistributedDataParallel.forward: what nothing hides, and the idle time while the host asks "
    "for them (without a device: what the main thread spends there). Fires from 1 % of the step. "
    "Abstains where there are broadcasts and no range of DistributedDataParallel. Source: "
    "PyTorch's documentation of DistributedDataParallel.";

constexpr double kLeastPercent = 1.0;

bool is_wrapper(std::string_view name) {
  return name.find("DistributedDataParallel.forward") != std::string_view::npos;
}

struct Found {
  std::vector<SliceId> calls;
  std::vector<SliceId> hosts;
  std::vector<Claim> claims;
  RemovedTime removed;
  std::int64_t bytes = 0;
  bool elsewhere = false;  // Broadcasts outside of the wrapper.
  explicit Found(const RuleContext& rules) : removed(rules) {}
};

/// The outermost host slice of broadcasts below the innermost wrapper.
class Askers {
 public:
  Askers(const RuleContext& rules, const NameSet& wrappers)
      : parent_(rules.context.nesting().parent),
        names_(rules.trace().slices.name),
        wrappers_(wrappers),
        broadcasts_(rules.trace(), [](std::string_view name) {
          return collective_kind(name) == CollectiveKind::broadcast;
        }) {
    notes_.resize(rules.trace().slices.size());
  }
  /// `host` itself where none is named so.
  [[nodiscard]] SliceId of(SliceId host) const {
    const auto next = [this](std::uint32_t asker, SliceId at) -> std::uint32_t {
      const StringId name = names_[at.row()];
      if (wrappers_.contains(name)) return 0;
      if (asker != 0 || !broadcasts_.contains(name)) return asker;
      return number_of(at);
    };
    const SliceId asker = slice_of(notes_.of(parent_, host, next));
    return asker.valid() ? asker : host;
  }

 private:
  const Column<SliceId>& parent_;
  const Column<StringId>& names_;
  const NameSet& wrappers_;
  NameSet broadcasts_;
  FromOutside notes_;
};

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet wrappers(trace, is_wrapper);
  const Askers askers(rules, wrappers);
  Found found(rules);
  for (const CollectiveCall& call : collective_calls(rules)) {
    const SliceId host =
        rules.device >= 0 ? rules.context.links().launch[call.slice.row()] : call.slice;
    if (!host.valid() || call.kind != CollectiveKind::broadcast) continue;
    if (!enclosing(rules, host, wrappers).valid()) {
      found.elsewhere = true;
      continue;
    }
    found.calls.push_back(call.slice);
    found.hosts.push_back(askers.of(host));
    found.bytes += call.bytes;
    if (rules.device >= 0) found.claims.push_back(claim(rules, call.slice));
  }
  std::ranges::sort(found.hosts);
  found.hosts.erase(std::unique(found.hosts.begin(), found.hosts.end()), found.hosts.end());
  std::vector<Interval> stretches;
  for (const SliceId host : found.hosts) stretches.push_back(interval_of(trace, host));
  for (const Interval& stretch : merged(std::move(stretches))) {
    if (rules.device >= 0) {
      claim_idle(rules, stretch, kHostLate, found.claims);
    } else {
      claim_main_thread(rules, stretch, {}, found.claims, &found.removed);
    }
  }
  return found;
}

Outcome check(const RuleContext& rules) {
  Found found = look(rules);
  if (found.calls.empty() && found.elsewhere) {
    return Abstention{"no range of DistributedDataParallel is around the recorded broadcasts"};
  }
  const Duration time = total(found.claims);
  if (found.calls.empty() || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title =
      "DistributedDataParallel sends its buffers in each pass: " + per_step(rules, time);
  finding.family = Family::communication;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  finding.evidence.push_back(evidence_of(
      rules, found.calls,
      counted_noun(found.calls.size(), "broadcast") + " inside DistributedDataParallel.forward" +
          (found.bytes > 0 ? ", " + bytes_text(found.bytes / step_count(rules)) + " per step"
                           : "")));
  finding.counter_evidence =
      "Buffers that a program changes on rank 0 only would no longer reach the other ranks.";
  finding.fix = {
      .text =
          "Keep each rank's own buffers. Caveats: running statistics of batch norm then differ "
          "between ranks: evaluate and save with those of one rank, or use SyncBatchNorm, which "
          "needs no broadcast and communicates by itself.",
      .before = "DistributedDataParallel(model)",
      .after = "DistributedDataParallel(model, broadcast_buffers=False)"};
  finding.verify = "fathom accounting TRACE";
  finding.claims = std::move(found.claims);
  if (rules.device >= 0) {
    for (const SliceId call : found.calls) finding.edits.scale.emplace_back(call, 0.0F);
    scale_trees(rules, found.hosts, 0.0F, finding.edits);
  }
  found.removed.to(finding.edits);
  finding.assumption = "no buffers are sent";
  finding.pessimism = 0.4;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace buffer_broadcasts_rule

Rule buffer_broadcasts() {
  return {.id = "buffer-broadcasts",
          .title = "Buffers sent by DistributedDataParallel in each pass",
          .doc = buffer_broadcasts_rule::kDoc,
          .check = buffer_broadcasts_rule::check};
}

}  // namespace fathom
