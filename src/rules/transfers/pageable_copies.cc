// pageable-copies: host memory that the device cannot read by itself.
#include <algorithm>

#include "analysis/structure/stretches.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/common/program.h"
#include "rules/common/waits.h"
#include "rules/rule.h"

namespace fathom {
namespace pageable_copies_rule {
namespace {

constexpr std::string_view kDoc =
    "A copy from or to pageable memory goes through a pinned buffer of the driver: it is slower "
    "than the link, and the call blocks, even the Async one. From pinned memory with "
    "non_blocking=True it runs beside the device's work. Counted are the copies themselves, as far "
    "as nothing else runs, the idle time while the host is inside them (not that before other work "
    "which was launched earlier), and, of uploads, the idle time behind the wait that PyTorch adds "
    "(at most as long as the wait). Waits for values (.item(), .cpu()) belong to sync-points. "
    "Fires from 1 % of the step; abstains where the "
    "recorder does not record kinds of memory (ROCm before 6). Uploads of up to 64 KiB return "
    "before they are done, and cost less. Sources: nsys cuda_memcpy_async; CUDA's API "
    "synchronisation behaviour; PyTorch's pin_memory tutorial.";

constexpr double kLeastPercent = 1.0;
/// The part of a link's peak that pinned copies reach.
constexpr double kReached = 0.8;
/// What is left of a copy's time when the link's peak is not known.
constexpr double kLeft = 0.5;

struct Found {
  std::vector<HostCopy> copies;  // Pageable ones.
  std::vector<Claim> claims;
  std::vector<SliceId> waits;
  std::size_t all = 0;
  bool kind_recorded = false;  // Does any copy say which memory?
  Duration waiting{};
};

void claim_waits(const RuleContext& rules, Found& found) {
  const Trace& trace = rules.trace();
  std::vector<bool> upload(trace.slices.size());
  std::vector<Time> begins;
  const AroundCopies around(rules);
  for (const HostCopy& copy : found.copies) {
    const SliceId asked = around.asker(copy);
    if (!asked.valid()) continue;
    begins.push_back(trace.slices.start[asked.row()]);
    if (copy.kind == CopyKind::h2d && copy.op.valid()) upload[copy.op.row()] = true;
  }
  std::ranges::sort(begins);
  for (const DeviceWait& wait : device_waits(rules)) {
    const SyncCall& sync = *wait.calls.front();
    if (!sync.op.valid() || !upload[sync.op.row()] || !counts(rules, sync.call)) continue;
    const Time from = trace.slices.end(sync.op);
    const auto next_copy = std::ranges::lower_bound(begins, from);
    const Time until =
        std::min(wait.reach.end, next_copy == begins.end() ? Time::max() : *next_copy);
    if (from < until) {
      claim_idle(rules, {from, until}, kHostLate, found.claims, 1.0, wait.waited);
    }
    for (const SyncCall* const each : wait.calls) found.waits.push_back(each->call);
    found.waiting += wait.waited;
  }
}

/// The idle time right before a copy, inside its call. What ends with other work is no part of it:
/// at the begin of a recording the call may wait for work that was launched before.
Interval staging(const RuleContext& rules, const HostCopy& copy) {
  const Interval call = interval_of(rules.trace(), copy.launch);
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  if (device == nullptr) return {};
  const Time starts = rules.trace().slices.start[copy.activity.row()];
  const auto gap = std::ranges::lower_bound(device->gaps, starts, {},
                                            [](const Gap& each) { return each.interval.end; });
  if (gap == device->gaps.end() || gap->next != copy.activity) return {};
  const Interval idle{std::max(call.begin, gap->interval.begin),
                      std::min(call.end, gap->interval.end)};
  return idle.begin < idle.end ? idle : Interval{};
}

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  Found found;
  std::vector<Interval> stretches;
  std::vector<Interval> calls;
  for (const HostCopy& copy : host_copies(rules)) {
    ++found.all;
    found.kind_recorded = found.kind_recorded || copy.host != MemoryKind::unknown;
    if (copy.host != MemoryKind::pageable) continue;
    found.copies.push_back(copy);
    found.claims.push_back(claim(rules, copy.activity));
    if (copy.kind == CopyKind::h2d && copy.launch.valid()) calls.push_back(staging(rules, copy));
    if (copy.kind == CopyKind::h2d && copy.op.valid()) {
      stretches.push_back(interval_of(trace, copy.op));
    } else if (copy.kind == CopyKind::h2d && copy.launch.valid()) {
      stretches.push_back(interval_of(trace, copy.launch));
    }
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    claim_idle(rules, stretch, kHostLate, found.claims);
  }
  // Inside its call the driver copies into a buffer of its own first, and the device waits for it.
  for (const Interval& call : merged(std::move(calls))) {
    claim_idle(rules, call, {Bucket::device_wait}, found.claims);
  }
  claim_waits(rules, found);
  return found;
}

/// What is left of a copy that runs at the pace of pinned ones.
double left_of(const RuleContext& rules, const HostCopy& copy) {
  const auto taken = static_cast<double>(to_ns(rules.trace().slices.duration[copy.activity.row()]));
  const DeviceSpec* const spec = rules.roofline.device;
  if (spec == nullptr || spec->pcie_bandwidth <= 0 || copy.bytes <= 0 || taken <= 0) return kLeft;
  const double pinned = static_cast<double>(copy.bytes) / (kReached * spec->pcie_bandwidth) * 1e9;
  return std::clamp(pinned / taken, 0.0, 1.0);
}

/// Uploads are pinned by the loader where there is one, else by the program; downloads go into
/// pinned memory that is there already.
Fix fix_of(const RuleContext& rules, const Found& found) {
  Duration up{};
  Duration down{};
  for (const HostCopy& copy : found.copies)
    (copy.kind == CopyKind::h2d ? up : down) += rules.trace().slices.duration[copy.activity.row()];
  if (down > up) {
    return {.text =
                "Copy results into pinned memory that is allocated once, without blocking, and "
                "read them after an event. Caveat: they are not there before it.",
            .before = "y = out.cpu()",
            .after =
                "host = torch.empty(out.shape, dtype=out.dtype, pin_memory=True)  # once\n"
                "host.copy_(out, non_blocking=True); done.record()\n...\ndone.synchronize()"};
  }
  const bool loader = frameworks_of(rules.trace()).loader;
  return {.text = std::string(loader ? "Let the loader pin its batches"
                                     : "Pin what is sent, in "
                                       "buffers that are used "
                                       "again,") +
                  " and copy without blocking; best one batch ahead, on a stream of its own. "
                  "Caveats: a buffer may be changed only when its copy is done; do not pin what is "
                  "used once: that costs more than it saves.",
          .before = loader ? "DataLoader(data); x = x.to(device)" : "x = x.to(device)",
          .after = loader ? "DataLoader(data, pin_memory=True); x = x.to(device, non_blocking=True)"
                          : "buffer.copy_(x)  # pinned once: torch.empty(shape, pin_memory=True)\n"
                            "x = buffer.to(device, non_blocking=True)"};
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  Found found = look(rules);
  if (found.all > 0 && !found.kind_recorded) {
    return Abstention{"the recorder does not record whether memory is pageable or pinned"};
  }
  const Duration time = total(found.claims);
  if (found.copies.empty() || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "Copies from or to pageable memory block: " + per_step(rules, time);
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(rules, found.copies,
                                         volume_text(found.copies) + " of pageable memory, of " +
                                             counted_noun(found.all, "transfer") +
                                             " between host and device"));
  if (!found.waits.empty()) {
    finding.evidence.push_back(evidence_of(
        rules, found.waits, "the host waits " + per_step(rules, found.waiting) + " inside them"));
  }
  finding.counter_evidence =
      "Pinning copies the data once more on the host and cannot be swapped out; without work that "
      "runs meanwhile, a pinned copy saves only by its higher rate.";
  finding.fix = fix_of(rules, found);
  finding.verify = "fathom copies TRACE";
  finding.claims = std::move(found.claims);
  for (const HostCopy& copy : found.copies) {
    if (copy.launch.valid() && copy.kind == CopyKind::h2d) {
      finding.edits.no_wait.push_back(copy.launch);
    }
    finding.edits.scale.emplace_back(copy.activity, static_cast<float>(left_of(rules, copy)));
  }
  std::vector<SliceId>& freed = finding.edits.no_wait;
  freed.insert(freed.end(), found.waits.begin(), found.waits.end());
  std::ranges::sort(freed);
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  finding.assumption =
      "uploads no longer wait, and all copies run at 80 % of the link's peak (at twice the rate "
      "where it is not known)";
  finding.pessimism = 0.5;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace pageable_copies_rule

Rule pageable_copies() {
  return {.id = "pageable-copies",
          .title = "Blocking copies of pageable memory",
          .doc = pageable_copies_rule::kDoc,
          .check = pageable_copies_rule::check};
}

}  // namespace fathom
