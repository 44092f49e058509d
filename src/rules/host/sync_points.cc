// sync-points: calls that make the host wait for the device, by the line that asks for them.
#include <algorithm>
#include <array>
#include <map>

#include "analysis/structure/from_outside.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/waits.h"
#include "rules/rule.h"

namespace fathom {
namespace sync_points_rule {
namespace {

constexpr std::string_view kDoc =
    "A call that waits for the device (.item(), .cpu(), nonzero, a boolean mask, printing a "
    "tensor, torch.cuda.synchronize) lets its queue run dry: until the host has launched again, "
    "the device idles. Had the host not waited, it would be ahead by as long as it waited. So each "
    "call counts for the idle time behind it, up to the next such call, at most for its own "
    "duration; calls directly after one another, with no work in between, are one. Waits before "
    "the first recorded work of the device and after the last cost nothing that is known. One "
    "finding per call site that costs at least 1 % of the step; copies between host "
    "and device have a rule of their own (pageable-copies), except those that bring a value to the "
    "host. Sources: PyTorch's tuning guide (avoid unnecessary synchronisation); nsys "
    "cuda_api_sync; nsys-ai's 2 %.";

constexpr double kLeastPercent = 1.0;
constexpr std::size_t kMostSites = 8;

/// What a user writes to make these operators run, from the specific to the general.
struct WaitingOperator {
  std::string_view op;
  std::string_view written;
};
constexpr auto kWaitingOperators = std::to_array<WaitingOperator>({
    {"aten::is_nonzero", "if tensor:"},
    {"aten::masked_select", "masked_select"},
    {"aten::_unique2", "unique"},
    {"aten::unique_consecutive", "unique_consecutive"},
    {"aten::repeat_interleave", "repeat_interleave"},
    {"aten::bincount", "bincount"},
    {"aten::equal", "torch.equal"},
    {"aten::index", "a boolean mask"},
    {"aten::index_put_", "a boolean mask"},
    {"aten::_index_put_impl_", "a boolean mask"},
    {"aten::nonzero", "nonzero"},
    {"aten::item", ".item()"},
    {"aten::_local_scalar_dense", ".item()"},
    {"aten::to", ".cpu()"},
    {"aten::_to_copy", ".cpu()"},
    {"aten::copy_", ".cpu()"},
});

bool prints(std::string_view frame) { return frame.find("_tensor_str.py") != frame.npos; }
bool brings_back(std::string_view written) { return written == ".cpu()" || written == ".item()"; }

/// The operators around a call say what was written; the outermost listed one is closest to it.
class WrittenAround {
 public:
  explicit WrittenAround(const RuleContext& rules) : rules_(rules) {
    notes_.resize(rules.trace().slices.size());
  }
  [[nodiscard]] std::string_view of(SliceId call) const {
    const auto is_listed = [this](SliceId at) { return !written(at).empty(); };
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    const SliceId op = outermost_around(notes_, parent, call, is_listed);
    return op.valid() ? written(op) : std::string_view();
  }

 private:
  [[nodiscard]] std::string_view written(SliceId op) const {
    const Trace& trace = rules_.trace();
    if (trace.kind(op) != SliceKind::cpu_op) return {};
    const auto waiting = std::ranges::find(kWaitingOperators, trace.name(op), &WaitingOperator::op);
    return waiting == kWaitingOperators.end() ? std::string_view() : waiting->written;
  }

  const RuleContext& rules_;
  FromOutside notes_;
};

struct Site {
  std::vector<SliceId> calls;
  std::vector<Claim> claims;
  Duration idle{};
  Duration waited{};
  Duration busy{};  // The device, meanwhile.
  std::string what;
  std::string place;
};

/// Operators and calls that copy from the host: their waits belong to the copies.
std::vector<bool> uploads(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::vector<bool> result(trace.slices.size());
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const std::uint32_t copy = trace.slices.detail[activity.row()];
    if (trace.kind(activity) != SliceKind::memcpy || copy == SliceId::kNone) return;
    if (trace.copies.kind[copy] != CopyKind::h2d) return;
    const SliceId launch = rules.context.links().launch[activity.row()];
    if (op.valid()) result[op.row()] = true;
    if (launch.valid()) result[launch.row()] = true;
  });
  return result;
}

/// Names a site without a line: by the outermost operator around it. `notes`: of that question.
std::string around(const RuleContext& rules, const FromOutside& notes, const SyncCall& sync) {
  const Trace& trace = rules.trace();
  const auto is_op = [&trace](SliceId at) { return trace.kind(at) == SliceKind::cpu_op; };
  const SliceId op = outermost_around(notes, rules.context.nesting().parent, sync.call, is_op);
  return std::string(trace.name(op.valid() ? op : sync.call));
}

/// What the device worked while the host waited: what is launched and has not begun is no work.
Duration busy_during(const RuleContext& rules, const DeviceWait& wait) {
  const Trace& trace = rules.trace();
  const DeviceTimeline& timeline = *rules.context.timelines().find(rules.device);
  Interval calls{Time::max(), Time::min()};
  for (const SyncCall* const sync : wait.calls) {
    calls.begin = std::min(calls.begin, trace.slices.start[sync->call.row()]);
    calls.end = std::max(calls.end, trace.slices.end(sync->call));
  }
  return std::min(wait.waited, calls.length() - busy_time(timeline, calls)[Busy::idle]);
}

std::map<std::string, Site> look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const std::vector<bool> upload = uploads(rules);
  const NameSet printing(trace, prints);
  const WrittenAround written(rules);
  FromOutside outermost;
  outermost.resize(trace.slices.size());
  std::map<std::string, Site> sites;
  for (const DeviceWait& wait : device_waits(rules)) {
    const SyncCall& sync = *wait.calls.front();
    const bool uploading = upload[sync.call.row()] || (sync.op.valid() && upload[sync.op.row()]);
    if (!rules.counts(wait.reach.begin) || uploading) continue;
    std::vector<Claim> claims;
    const Duration idle = claim_idle(rules, wait.reach, kHostLate, claims, 1.0, wait.waited);
    if (idle == Duration{}) continue;
    std::string_view what = written.of(sync.call);
    if (enclosing_frame(rules, sync.frame, printing)) what = "printing a tensor";
    if (what.empty()) what = trace.name(sync.call);
    const std::string place = rules.sites.of(sync.call);
    Site& site =
        sites[place.empty() ? std::string(what) + " in " + around(rules, outermost, sync) : place];
    site.what = what;
    site.place = place;
    for (const SyncCall* const each : wait.calls) site.calls.push_back(each->call);
    site.claims.insert(site.claims.end(), claims.begin(), claims.end());
    site.idle += idle;
    site.waited += wait.waited;
    site.busy += busy_during(rules, wait);
  }
  return sites;
}

Fix fix_of(const std::string& what) {
  if (what == "a boolean mask" || what == "nonzero" || what == "masked_select") {
    return {.text =
                "The number of selected elements decides the result's size, so the host has to "
                "wait. Keep the size fixed: torch.where, multiply by the mask, or a masked "
                "reduction. Caveat: computes the masked-out elements too.",
            .before = "loss = losses[mask].mean()",
            .after = "loss = (losses * mask).sum() / mask.sum()"};
  }
  if (what == "printing a tensor") {
    return {.text = "Print every N steps only, and what was read then.",
            .before = "print(loss)",
            .after = "if step % 100 == 0: print(loss.item())"};
  }
  if (brings_back(what) || what == "if tensor:") {
    return {.text =
                "Keep the value on the device: sum it there and read it every N steps; or copy it "
                "into pinned memory with non_blocking=True and read it a step later, after an "
                "event. Caveat: the value is then older.",
            .before = "total += loss.item()",
            .after = "total += loss.detach()  # every 100 steps: total.item()"};
  }
  return {.text =
              "Remove the wait, or replace it by an event that only the consumer waits for "
              "(stream.wait_event). Caveat: timings need it; then measure with events.",
          .before = "torch.cuda.synchronize()",
          .after = "event.record(); other_stream.wait_event(event)"};
}

Finding make(const RuleContext& rules, const std::string& key, Site& site) {
  Finding finding;
  finding.key = key;
  finding.title = "The host waits for the device (" + site.what + ")" +
                  (site.place.empty() ? "" : " at " + site.place) + ": " +
                  per_step(rules, site.idle) + " idle behind it";
  finding.family = Family::sync;
  finding.weight = weight_of(rules, site.idle, 5, 15);
  finding.confidence = site.place.empty() ? Confidence::medium : Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(rules, site.calls,
                                         counted_noun(site.calls.size(), "waiting call") + " (" +
                                             std::string(rules.trace().name(site.calls.front())) +
                                             "), which wait for " + per_step(rules, site.waited)));
  finding.counter_evidence =
      site.busy > Duration{}
          ? "The device is busy for " + per_step(rules, site.busy) +
                " of the waiting, which costs nothing by itself."
          : "A host that launches more slowly than the device works would lose this time anyway.";
  finding.fix = fix_of(site.what);
  finding.verify = "fathom syncs TRACE --sort -idle_after_ns";
  finding.claims = std::move(site.claims);
  finding.edits.no_wait = site.calls;
  finding.assumption = "the program goes on without the value, and launches as fast as before";
  finding.pessimism = 0.4;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  std::map<std::string, Site> sites = look(rules);
  std::vector<std::pair<const std::string, Site>*> worst;
  for (auto& site : sites) {
    if (rules.percent(site.second.idle) >= kLeastPercent) worst.push_back(&site);
  }
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const auto* site) { return site->second.idle; });
  if (worst.size() > kMostSites) worst.resize(kMostSites);
  std::vector<Finding> findings;
  findings.reserve(worst.size());
  for (auto* const site : worst) findings.push_back(make(rules, site->first, site->second));
  return findings;
}

}  // namespace
}  // namespace sync_points_rule

Rule sync_points() {
  return {.id = "sync-points",
          .title = "The host waits for the device",
          .doc = sync_points_rule::kDoc,
          .check = sync_points_rule::check};
}

}  // namespace fathom
