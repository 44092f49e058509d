// exposed-copies: pinned copies, and copies on the device, beside which nothing computes.
#include <algorithm>
#include <string>

#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {
namespace exposed_copies_rule {
namespace {

constexpr std::string_view kDoc =
    "A copy costs the step nothing while kernels run beside it. Counted is the part of copies "
    "between pinned host memory and the device, and of copies from device to device, during which "
    "no kernel runs. One finding per kind, from 2 % of the step; warns from 5 %, is critical from "
    "20 %. Where no kernels were recorded, there is nothing to hide copies behind. A copy on the "
    "device directly before the launch of a CUDA graph most likely fills the "
    "graph's input buffer. Copies of pageable memory, of values that the host reads (.item()), and "
    "those that only change a tensor's layout belong to pageable-copies, sync-points and "
    "layout-copies. Abstains about copies of the host where the recorder does not record kinds of "
    "memory (ROCm before 6). Sources: NVIDIA's Nsight Systems guide (copies that overlap with "
    "nothing); TraceML's H2D_BOUND (20 %); CUDA C++ Best Practices Guide (overlap transfers with "
    "computation).";

constexpr double kLeastPercent = 2.0;
constexpr double kWarnPercent = 5.0;
constexpr double kCriticalPercent = 20.0;
/// Copies of pinned memory reach this part of the link's peak and more.
constexpr double kReached = 0.5;

/// Copies of one kind with an exposed part.
struct Exposed {
  std::vector<SliceId> copies;
  std::vector<Claim> claims;
  Duration taken{};  // Hidden parts included.
  std::int64_t bytes = 0;
  std::size_t into_graphs = 0;
  std::vector<SliceId> waits;  ///< Calls that wait for an upload, in the operator that copies.

  void add(const RuleContext& rules, SliceId activity) {
    const Claim claimed = claim(rules, activity);
    const Trace& trace = rules.trace();
    const std::uint32_t detail = trace.slices.detail[activity.row()];
    if (claimed.time <= Duration{}) return;
    copies.push_back(activity);
    claims.push_back(claimed);
    taken += trace.slices.duration[activity.row()];
    bytes += std::max<std::int64_t>(trace.copies.bytes[detail], 0);
  }
};

/// Is it the last work that its thread launches before a graph?
class BeforeGraphs {
 public:
  explicit BeforeGraphs(const RuleContext& rules)
      : rules_(rules),
        graphs_(rules.trace(),
                [](std::string_view name) { return name.find("GraphLaunch") != name.npos; }),
        launches_(rules.trace(), [](std::string_view name) {
          return name.find("LaunchKernel") != name.npos || name.find("GraphLaunch") != name.npos;
        }) {}

  /// Whether the next launch of a kernel or graph on the copy's thread is that of a graph.
  [[nodiscard]] bool holds(SliceId copy) {
    const SliceId launch = rules_.context.links().launch[copy.row()];
    if (!graphs_.any() || !launch.valid()) return false;
    const Trace& trace = rules_.trace();
    const auto start = [&trace](SliceId slice) { return trace.slices.start[slice.row()]; };
    const std::vector<SliceId>& calls = launches_of(trace.slices.track[launch.row()]);
    const auto next = std::ranges::upper_bound(calls, start(launch), {}, start);
    return next != calls.end() && graphs_.contains(trace.slices.name[next->row()]);
  }

 private:
  const std::vector<SliceId>& launches_of(TrackId track) {
    if (track == track_) return calls_;
    track_ = track;
    calls_.clear();
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (thread.track != track) continue;
      for (const SliceId slice : thread.slices) {
        if (launches_.contains(rules_.trace().slices.name[slice.row()])) calls_.push_back(slice);
      }
    }
    return calls_;
  }

  const RuleContext& rules_;
  NameSet graphs_;
  NameSet launches_;
  TrackId track_{};
  std::vector<SliceId> calls_;  // Of that thread, by time.
};

Exposed between_host_and_device(const RuleContext& rules, const std::vector<HostCopy>& all) {
  Exposed exposed;
  const AroundCopies around(rules);
  std::vector<bool> uploads(rules.trace().slices.size());
  for (const HostCopy& copy : all) {
    if (copy.host != MemoryKind::pinned || around.brings_value(copy)) continue;
    exposed.add(rules, copy.activity);
    if (copy.kind == CopyKind::h2d && copy.op.valid()) uploads[copy.op.row()] = true;
  }
  for (const SyncCall& sync : rules.syncs)
    if (sync.op.valid() && uploads[sync.op.row()]) exposed.waits.push_back(sync.call);
  return exposed;
}

Exposed on_the_device(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet layout(trace, changes_layout);
  BeforeGraphs graphs(rules);
  Exposed exposed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const std::uint32_t detail = trace.slices.detail[activity.row()];
    if (trace.kind(activity) != SliceKind::memcpy || detail == SliceId::kNone) return;
    const CopyKind kind = trace.copies.kind[detail];
    if (kind != CopyKind::d2d && kind != CopyKind::p2p) return;
    if (op.valid() && enclosing(rules, op, layout).valid()) return;
    const std::size_t before = exposed.copies.size();
    exposed.add(rules, activity);
    if (exposed.copies.size() > before && graphs.holds(activity)) ++exposed.into_graphs;
  });
  return exposed;
}

double rate_of(const Exposed& exposed) {
  const double seconds = static_cast<double>(to_ns(exposed.taken)) * 1e-9;
  return seconds <= 0 ? 0 : static_cast<double>(exposed.bytes) / seconds;
}

std::string volume(const Exposed& exposed) {
  const auto count = static_cast<std::int64_t>(exposed.copies.size());
  std::string text = count == 1 ? "1 copy" : count_text(count) + " copies";
  if (exposed.bytes <= 0) return text;
  return bytes_text(exposed.bytes) + " in " + text + ", at " +
         bytes_text(static_cast<std::int64_t>(rate_of(exposed))) + " a second";
}

Finding begin(const RuleContext& rules, const Exposed& exposed, std::string title,
              std::string text) {
  const Duration time = total(exposed.claims);
  Finding finding;
  finding.title = std::move(title) + per_step(rules, time);
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, kWarnPercent, kCriticalPercent);
  finding.confidence = Confidence::high;
  Blamed blamed;
  blamed.activities = exposed.copies;
  finding.evidence.push_back(evidence_of(rules, blamed, std::move(text)));
  finding.claims = exposed.claims;
  finding.verify = "fathom copies TRACE";
  return finding;
}

std::string link_text(const RuleContext& rules, const Exposed& exposed) {
  const DeviceSpec* const spec = rules.roofline.device;
  if (spec == nullptr || spec->pcie_bandwidth <= 0 || exposed.bytes <= 0) return {};
  const double share = rate_of(exposed) / spec->pcie_bandwidth;
  const std::string text = percent_text(100 * share) + " of the link's peak";
  return share < kReached ? "; that is only " + text : "; " + text;
}

/// The part of the exposed time for which there is computing to hide it behind.
double hidden_part(const RuleContext& rules, const Exposed& exposed) {
  const DeviceTimeline& timeline = *rules.context.timelines().find(rules.device);
  Duration computing{};
  for (const Step* const step : rules.steps) {
    const BusyTime busy = busy_time(timeline, step->window);
    computing += busy[Busy::compute] + busy[Busy::communication];
  }
  const auto time = static_cast<double>(to_ns(total(exposed.claims)));
  return time <= 0 ? 0.0 : std::min(1.0, static_cast<double>(to_ns(computing)) / time);
}

/// Streams are CUDA's and HIP's way; other accelerators have one of their own.
Fix ahead(bool cuda) {
  if (!cuda) {
    return {.text =
                "Copy the next batch while this one computes, as the accelerator's library allows; "
                "or copy less (uint8 or bf16, converted on the device). Caveat: one more batch "
                "lies on the device.",
            .before = "",
            .after = ""};
  }
  return {
      .text =
          "Copy the next batch while this one computes: non_blocking=True on a stream of its own, "
          "which the computing waits for before the batch is used; or copy less (uint8 or bf16, "
          "converted on the device). Caveats: record_stream() keeps the memory alive; one more "
          "batch lies on the device.",
      .before = "x = batch.to(device, non_blocking=True)\nloss = model(x)",
      .after =
          "with torch.cuda.stream(copies):\n    upcoming = next(batches).to(device, "
          "non_blocking=True)\nloss = model(x)\n"
          "torch.cuda.current_stream().wait_stream(copies)\nx = upcoming"};
}

Finding of_host(const RuleContext& rules, const Exposed& exposed, double hidden) {
  Finding finding =
      begin(rules, exposed, "Nothing computes during copies of pinned memory: ",
            volume(exposed) + " with no kernel beside them" + link_text(rules, exposed));
  finding.key = "pinned";
  finding.effort = Effort::refactoring;
  finding.counter_evidence =
      "A kernel that needs the data at once has to wait for it; only what is known a step ahead "
      "can be copied ahead.";
  finding.fix = ahead(speaks_cuda(rules.trace()));
  finding.claims.clear();
  for (const SliceId copy : exposed.copies) finding.claims.push_back(claim(rules, copy, hidden));
  finding.edits.hide = exposed.copies;
  finding.edits.no_wait = exposed.waits;  // non_blocking=True
  finding.assumption = "copies run beside the computing of their step, and nobody waits for them";
  finding.pessimism = 0.3;
  return finding;
}

Finding of_device(const RuleContext& rules, const Exposed& exposed) {
  const bool graphs = 2 * exposed.into_graphs >= exposed.copies.size();
  Finding finding =
      begin(rules, exposed,
            graphs ? "Inputs are copied into the buffers of CUDA graphs: "
                   : "Nothing computes during copies from device to device: ",
            volume(exposed) + " with no kernel beside them" +
                (exposed.into_graphs > 0 ? "; " + counted_noun(exposed.into_graphs, "time") +
                                               " the launch of a graph comes next"
                                         : ""));
  finding.key = "device";
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.counter_evidence =
      "A copy that is needed (a value kept before it is overwritten) can only move beside other "
      "work, not go away.";
  finding.fix =
      graphs
          ? Fix{.text =
                    "Write inputs where the graph reads them: upload from pinned memory directly "
                    "into the graph's static tensors, or let what makes them write there (out=). "
                    "Caveat: the graph before must have finished reading.",
                .before = "x = host.to(device)\nstatic_x.copy_(x)\ngraph.replay()",
                .after = "static_x.copy_(host, non_blocking=True)\ngraph.replay()"}
          : Fix{.text =
                    "Let what makes the data write it where it is needed (out=, views of one "
                    "preallocated tensor), or work in place. Caveat: in-place changes of what "
                    "autograd saved raise an error.",
                .before = "buffer[i].copy_(f(x))",
                .after = "torch.add(x, y, out=buffer[i])"};
  for (const SliceId copy : exposed.copies) finding.edits.scale.emplace_back(copy, 0.0F);
  finding.assumption = "the copies are no longer made";
  finding.pessimism = 0.0;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  std::vector<Finding> findings;
  const Exposed device = on_the_device(rules);
  if (rules.percent(total(device.claims)) >= kLeastPercent) {
    findings.push_back(of_device(rules, device));
  }
  const std::vector<HostCopy> all = host_copies(rules);
  const Exposed host = between_host_and_device(rules, all);
  const double hidden = hidden_part(rules, host);
  if (rules.percent(total(host.claims)) >= kLeastPercent && hidden > 0) {
    findings.push_back(of_host(rules, host, hidden));
  }
  const bool unknown = !all.empty() && std::ranges::all_of(all, [](const HostCopy& copy) {
    return copy.host == MemoryKind::unknown;
  });
  if (findings.empty() && unknown) {
    return Abstention{"the recorder does not record whether memory is pageable or pinned"};
  }
  return findings;
}

}  // namespace
}  // namespace exposed_copies_rule

Rule exposed_copies() {
  return {.id = "exposed-copies",
          .title = "Copies beside which nothing computes",
          .doc = exposed_copies_rule::kDoc,
          .check = exposed_copies_rule::check};
}

}  // namespace fathom
