// exposed-communication: the step waits for collectives with nothing beside them.
#include <algorithm>
#include <array>
#include <string>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace exposed_communication_rule {
namespace {

constexpr std::string_view kDoc =
    "Communication costs nothing while kernels compute beside it; what counts is the exposed part, "
    "during which the device only communicates (without a device: the main thread is inside a "
    "collective, or idles while one runs on another thread). Fires from 5 % of the step, warns "
    "from "
    "10 %, is critical from 20 %. Exposed time holds waiting for late ranks too, which late-rank "
    "names where one rank's trace shows it. What can be hidden is bounded by the computing that "
    "has no communication beside it. Sources: the former TensorBoard plugin (10 %); TraceML (10 "
    "and 20 %).";

constexpr double kLeastPercent = 5.0;
constexpr double kWarnPercent = 10.0;
constexpr double kCriticalPercent = 20.0;

struct Found {
  std::vector<Claim> claims;
  std::vector<SliceId> calls;  // Those with an exposed part.
  std::array<Duration, kCollectiveKinds> by_kind{};
  Duration exposed{};
  Duration all{};   // Union of all communication.
  Duration free{};  // Computing with no communication beside it.
  RemovedTime removed;
  std::int64_t bytes = 0;
  explicit Found(const RuleContext& rules) : removed(rules) {}
};

void look_at_device(const RuleContext& rules, Found& found) {
  for (const CollectiveCall& call : collective_calls(rules)) {
    found.bytes += call.bytes;
    const Duration exposed = rules.accounting.credited[call.slice.row()];
    if (exposed <= Duration{}) continue;
    found.exposed += exposed;
    found.by_kind[static_cast<std::size_t>(call.kind)] += exposed;
    found.calls.push_back(call.slice);
  }
  const DeviceTimeline& timeline = *rules.context.timelines().find(rules.device);
  for (const Step* const step : rules.steps) {
    const BusyTime busy = busy_time(timeline, step->window);
    found.all += busy.total_of(Busy::communication);
    found.free +=
        busy[Busy::compute] - (busy.total_of(Busy::communication) - busy[Busy::communication]);
  }
  const double hidden = found.exposed <= found.free
                            ? 1.0
                            : static_cast<double>(to_ns(std::max(found.free, Duration{}))) /
                                  static_cast<double>(to_ns(found.exposed));
  for (const SliceId slice : found.calls) found.claims.push_back(claim(rules, slice, hidden));
}

/// The main thread in a collective, or in no operator while one runs elsewhere.
void look_at_host(const RuleContext& rules, Found& found) {
  std::array<std::vector<Interval>, kCollectiveKinds> stretches;
  std::vector<Interval> all;
  for (const CollectiveCall& call : collective_calls(rules)) {
    const Interval own = interval_of(rules.trace(), call.slice);
    all.push_back(own);
    stretches[static_cast<std::size_t>(call.kind)].push_back(own);
    found.calls.push_back(call.slice);
    found.bytes += call.bytes;
  }
  const auto exposed = {HostBucket::communication, HostBucket::waiting, HostBucket::python};
  std::vector<Claim> by_kind;  // Claimed below, of all kinds together.
  for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
    for (const Interval& stretch : merged(std::move(stretches[kind])))
      found.by_kind[kind] += claim_main_thread(rules, stretch, exposed, by_kind);
  }
  for (const Interval& stretch : merged(std::move(all))) {
    found.all += rules.counted(stretch);
    found.exposed += claim_main_thread(rules, stretch, exposed, found.claims, &found.removed);
  }
}

CollectiveKind costliest_kind(const Found& found) {
  return static_cast<CollectiveKind>(std::ranges::max_element(found.by_kind) -
                                     found.by_kind.begin());
}

/// DDP's gradients travel in the backward pass, which only training has.
Fix ddp_fix() {
  return {.text =
              "Let gradients travel while the backward pass runs: DistributedDataParallel with "
              "buckets that fill early (bucket_cap_mb, gradient_as_bucket_view=True), no_sync() on "
              "all but the last of accumulated batches, gradients compressed to bf16 by a "
              "communication hook. Caveats: compression rounds; accumulation makes the batch "
              "larger.",
          .before = "for x in batches: loss(model(x)).backward()",
          .after =
              "with model.no_sync():\n    for x in batches[:-1]: "
              "loss(model(x)).backward()\nloss(model(batches[-1])).backward()"};
}

Fix fsdp_fix() {
  return {.text =
              "Fetch the next layer's shards while this one computes: FSDP with "
              "BackwardPrefetch.BACKWARD_PRE and forward_prefetch=True, wrapped per transformer "
              "block; shard within a node only (HYBRID_SHARD) where memory allows. Caveat: "
              "prefetching holds one more layer's parameters.",
          .before = "FSDP(model)",
          .after =
              "FSDP(model, auto_wrap_policy=policy, forward_prefetch=True,\n"
              "     backward_prefetch=BackwardPrefetch.BACKWARD_PRE)"};
}

Fix tables_fix() {
  return {
      .text =
          "Start the exchange early and compute what does not need it meanwhile: the dense "
          "part, or the batch before (TorchRec's TrainPipelineSparseDist); send less (fp16 or "
          "bf16 codecs, a sharding plan that keeps hot tables local). Caveats: a pipeline works "
          "on older inputs by one batch; codecs round.",
      .before = "",
      .after = ""};
}

/// The call of torch.distributed, as far as the kind is one.
std::string_view call_of(CollectiveKind kind) {
  constexpr std::array<std::string_view, kCollectiveKinds> kCalls = {
      "dist.all_reduce(x",
      "dist.all_gather_into_tensor(out, x",
      "dist.reduce_scatter_tensor(out, x",
      "dist.all_to_all_single(out, x",
      "dist.broadcast(x, 0",
      ""};
  return kCalls[static_cast<std::size_t>(kind)];
}

/// Is the call seen on the host as torch's own, which a program can start asynchronously?
bool calls_torch(const Trace& trace) {
  return NameSet(trace,
                 [](std::string_view name) {
                   return name.starts_with("c10d::") || name.starts_with("nccl:") ||
                          name.starts_with("gloo:") || name == "record_param_comms";
                 })
      .any();
}

/// Do collectives come from tensors that are spread over ranks, as in tensor parallelism? The
/// program then calls none itself, and the next layer needs the result.
bool spreads_tensors(const Trace& trace) {
  const bool functional = NameSet(trace, [](std::string_view name) {
                            return name.starts_with("_c10d_functional::");
                          }).any();
  return functional && !frameworks_of(trace).generates;
}

Fix spread_fix() {
  return {.text =
              "These are functional collectives, of tensors that are spread over ranks (DTensor, "
              "tensor parallelism): the next layer needs each result, so that there is nothing to "
              "start early by hand. Spread over fewer ranks, or only over those with the fastest "
              "links; send 16-bit floats; let torch.compile overlap them with the matrix "
              "multiplications beside them, which needs symmetric memory. Caveats: fewer ranks "
              "hold larger parts; 16 bits "
              "round.",
          .before = "",
          .after =
              "torch._inductor.config._micro_pipeline_tp = True\n"
              "model = torch.compile(model)"};
}

/// All-to-all exchanges tokens with the experts of other ranks, or parts of a sequence.
Fix exchange_fix() {
  return {.text =
              "These exchange tokens with the experts of other ranks, or parts of sequences, and "
              "the next layer needs the result: compute meanwhile what does not need it (a shared "
              "expert, the other half of the batch), send 16-bit floats, and few large tensors "
              "in place of many small ones. Caveat: 16 bits round.",
          .before = "",
          .after = ""};
}

/// Advice for the framework that the names show; else for collectives in general.
Fix fix_of(const RuleContext& rules, CollectiveKind kind) {
  const Frameworks frameworks = frameworks_of(rules.trace());
  const bool training = is_training(rules);
  const bool shards = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  if (kind == CollectiveKind::all_reduce && frameworks.ddp && training) return ddp_fix();
  if (shards && frameworks.fsdp && training) return fsdp_fix();
  if (kind == CollectiveKind::all_to_all && frameworks.torchrec && training) return tables_fix();
  if (kind == CollectiveKind::broadcast && frameworks.ddp) {
    return {.text =
                "DistributedDataParallel sends the model's buffers before each forward pass: "
                "broadcast_buffers=False keeps them apart where each rank may have its own "
                "(statistics of batch norm). Caveat: the ranks' buffers then differ.",
            .before = "DistributedDataParallel(model)",
            .after = "DistributedDataParallel(model, broadcast_buffers=False)"};
  }
  if (spreads_tensors(rules.trace()))
    return kind == CollectiveKind::all_to_all ? exchange_fix() : spread_fix();
  Fix fix{.text =
              "Start the exchange early and compute meanwhile what does not need its result; send "
              "fewer, larger tensors, or fewer bytes, where that keeps the results.",
          .before = "",
          .after = ""};
  const std::string call(call_of(kind));
  if (call.empty() || !calls_torch(rules.trace())) return fix;
  fix.before = call + ")";
  fix.after =
      "work = " + call + ", async_op=True)\n...  # what does not need the result\nwork.wait()";
  return fix;
}

std::string kinds_text(const RuleContext& rules, const Found& found) {
  std::string text;
  for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
    if (found.by_kind[kind] == Duration{}) continue;
    text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<CollectiveKind>(kind))) +
            " " + per_step(rules, found.by_kind[kind]);
  }
  return text;
}

std::string rate_text(const RuleContext& rules, const Found& found) {
  const double seconds = static_cast<double>(to_ns(found.all)) * 1e-9;
  if (found.bytes <= 0 || seconds <= 0) return {};
  return "; " + bytes_text(found.bytes / step_count(rules)) + " per step, " +
         bytes_text(static_cast<std::int64_t>(static_cast<double>(found.bytes) / seconds)) +
         " per second of communication, waiting included";
}

Finding make(const RuleContext& rules, Found& found, double overlap) {
  Finding finding;
  finding.title = "Communication that nothing hides: " + per_step(rules, found.exposed) + "; " +
                  percent_text(overlap) + " of all communication is hidden";
  finding.family = Family::communication;
  finding.weight = weight_of(rules, found.exposed, kWarnPercent, kCriticalPercent);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, found.calls, kinds_text(rules, found) + rate_text(rules, found)));
  finding.counter_evidence =
      rules.device < 0
          ? "Waiting for late ranks counts in; only the traces of all ranks show it separately."
      : found.free < found.exposed
          ? "Only " + per_step(rules, std::max(found.free, Duration{})) +
                " of computing has no communication beside it: no more than that can be hidden."
          : "Waiting for late ranks counts in, and hidden communication slows the kernels beside "
            "it.";
  finding.fix = fix_of(rules, costliest_kind(found));
  finding.verify = "fathom accounting TRACE";
  finding.claims = std::move(found.claims);
  if (rules.device >= 0) {
    finding.edits.hide = std::move(found.calls);
    finding.assumption = "collectives run beside the computing of their step";
  } else {
    for (const SliceId call : found.calls) finding.edits.scale.emplace_back(call, 0.0F);
    found.removed.to(finding.edits);
    finding.assumption = "the main thread no longer waits for collectives";
  }
  finding.pessimism = 0.3;
  return finding;
}

Outcome check(const RuleContext& rules) {
  Found found(rules);
  if (rules.device >= 0) {
    look_at_device(rules, found);
  } else {
    look_at_host(rules, found);
  }
  if (found.all <= Duration{}) return std::vector<Finding>{};
  const double overlap = 100.0 * (1.0 - static_cast<double>(to_ns(found.exposed)) /
                                            static_cast<double>(to_ns(found.all)));
  if (rules.percent(found.exposed) < kLeastPercent) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(make(rules, found, std::clamp(overlap, 0.0, 100.0)));
  return findings;
}

}  // namespace
}  // namespace exposed_communication_rule

Rule exposed_communication() {
  return {.id = "exposed-communication",
          .title = "Communication that nothing hides",
          .doc = exposed_communication_rule::kDoc,
          .check = exposed_communication_rule::check};
}

}  // namespace fathom
