// sync-points: calls that make the host wait for the device, by the line that asks for them.
#include <algorithm>
#include <array>
#include <map>

#include "analysis/structure/from_outside.h"
#include "analysis/structure/vendor.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
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

/// Operators whose result has as many elements as the data says, so that the host must ask.
constexpr auto kSizedByData =
    std::to_array<std::string_view>({"a boolean mask", "nonzero", "masked_select", "unique",
                                     "unique_consecutive", "repeat_interleave", "bincount"});

Fix sized_by_data(const std::string& what) {
  Fix fix{.text =
              "The data decides how large the result is, so the host has to wait for its size. "
              "Keep the size fixed, or work it out on the host beforehand",
          .before = "",
          .after = ""};
  if (what == "a boolean mask" || what == "masked_select") {
    fix.text +=
        ": torch.where, or a masked reduction. Caveat: computes the masked-out elements too, which "
        "must be finite.";
    fix.before = "loss = losses[mask].mean()";
    fix.after = "loss = torch.where(mask, losses, 0).sum() / mask.sum()";
  } else if (what == "nonzero") {
    fix.text += ": torch.nonzero_static with the size that is known. Caveat: pads or cuts.";
    fix.before = "index = mask.nonzero()";
    fix.after = "index = torch.nonzero_static(mask, size=n)";
  } else if (what == "repeat_interleave") {
    fix.text += ": give the size of the result.";
    fix.before = "torch.repeat_interleave(x, counts)";
    fix.after = "torch.repeat_interleave(x, counts, output_size=n)";
  } else if (what == "bincount") {
    fix.text += ": scatter into a tensor of known size.";
    fix.before = "torch.bincount(x)";
    fix.after =
        "torch.zeros(n, dtype=x.dtype, device=x.device).scatter_add_(0, x, torch.ones_like(x))";
  } else {
    fix.text += ", once for many batches.";
  }
  return fix;
}

/// Does a program ask for this wait by itself: no operator is around the call?
bool is_explicit(const RuleContext& rules, const Site& site) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  for (SliceId at = parent[site.calls.front().row()]; at.valid(); at = parent[at.row()])
    if (trace.kind(at) == SliceKind::cpu_op) return false;
  return true;
}

/// What else waits: a synchronisation that the program asks for, or an operator that needs it.
Fix other_wait(const RuleContext& rules, const Site& site) {
  if (!is_explicit(rules, site)) {
    return {.text =
                "This operator waits inside, so removing a synchronisation of the program does not "
                "help: call it less often, on what is known to need it, or use one that does not "
                "ask the host.",
            .before = "",
            .after = ""};
  }
  Fix fix{.text =
              "Remove the wait, or replace it by an event that only the consumer waits for. "
              "Caveat: timings need it; then measure with events.",
          .before = "",
          .after = ""};
  const std::string_view call = rules.trace().name(site.calls.front());
  if (speaks_cuda(rules.trace()) && call.find("DeviceSynchronize") != call.npos) {
    fix.before = "torch.cuda.synchronize()";
    fix.after = "event.record(); other_stream.wait_event(event)";
  }
  return fix;
}

/// A server's own wait, which its user does not write.
Fix fix_of_server() {
  return {
      .text =
          "vLLM reads the tokens of a pass before it plans the next one. async_scheduling plans "
          "it while the device works. Caveat: a request that has ended may take part in one "
          "more pass.",
      .before = "LLM(model)",
      .after = "LLM(model, async_scheduling=True)"};
}

Fix fix_of(const RuleContext& rules, const Site& site) {
  const std::string& what = site.what;
  if (frameworks_of(rules.trace()).vllm && !is_training(rules) &&
      (what == ".cpu()" || is_explicit(rules, site))) {
    return fix_of_server();
  }
  if (std::ranges::find(kSizedByData, what) != kSizedByData.end()) return sized_by_data(what);
  if (what == "printing a tensor") {
    return {.text = "Print every N steps only, and what was read then.",
            .before = "print(loss)",
            .after = "if step % 100 == 0: print(loss.item())"};
  }
  if (what == "if tensor:" || what == "torch.equal") {
    return {.text =
                "The program branches by a value on the device. Decide by what the host knows, "
                "select with torch.where on the device, or check every N steps only. Caveat: "
                "torch.where computes both sides.",
            .before = "if (x > limit).any(): x = x.clamp(max=limit)",
            .after = "x = x.clamp(max=limit)"};
  }
  if (what == ".cpu()") {
    return {.text =
                "Bring results to the host later, or less often: copy into pinned memory with "
                "non_blocking=True, launch what comes next, and read after an event. Caveat: the "
                "values are then older, and are not there before the event.",
            .before = "y = out.cpu()",
            .after =
                "host.copy_(out, non_blocking=True); done.record()  # host is pinned\n"
                "...  # launch what comes next\ndone.synchronize()"};
  }
  if (what == ".item()") {
    return {.text =
                "Keep the value on the device: sum it there and read it every N steps; or copy it "
                "into pinned memory with non_blocking=True and read it a step later, after an "
                "event. Caveat: the value is then older.",
            .before = "total += loss.item()",
            .after = "total += loss.detach()  # every 100 steps: total.item()"};
  }
  return other_wait(rules, site);
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
  finding.fix = fix_of(rules, site);
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
