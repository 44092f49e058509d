// small-collectives: many small collectives one after another, which one larger would replace.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace small_collectives_rule {
namespace {

constexpr std::string_view kDoc =
    "A collective of a few kilobytes costs what its latency costs: tens of microseconds on NVLink, "
    "more over a network. One per parameter, where gradients are not put into buckets, pays it "
    "hundreds of times. Fires for collectives of one kind and at most 1 MiB (DDP's first bucket) "
    "that follow one another without a matrix multiplication or a convolution between them, at "
    "least "
    "10 per step, from 1 % of the step, as far as nothing hides them. Between GEMMs each result "
    "is needed at once (tensor parallelism): such collectives cannot be joined and do not count. "
    "Where no size was recorded, kernels of at most 30 µs are taken for small; without a device "
    "rows of gloo's collectives of which a quarter takes at most 500 µs each (late ranks only make "
    "them longer), with low confidence; for other backends the rule abstains. Sources: PyTorch's "
    "DDP "
    "design note (buckets of 25 "
    "MB); NCCL's documentation of its latency; the former TensorBoard plugin's communication "
    "advice.";

constexpr double kLeastPercent = 1.0;
constexpr std::int64_t kSmall = std::int64_t{1} << 20;
/// What takes no longer moves little: it takes that long on any link to have an answer.
constexpr Duration kShort = duration_ns(30'000);
/// Without a device: 1 MiB in less is more than gloo moves.
constexpr Duration kShortOfHost = duration_ns(500'000);
constexpr std::size_t kLeastPerStep = 10;
constexpr std::size_t kShortestRun = 5;
/// One collective for the run moves the same bytes, and pays its latency once.
constexpr double kLeft = 0.2;
/// What the main thread does while a collective runs, if nothing hides it.
constexpr std::initializer_list<HostBucket> kWaits = {HostBucket::communication,
                                                      HostBucket::waiting, HostBucket::python};

bool convolves(std::string_view name) {
  return is_product(name) || name.find("convolution") != std::string_view::npos;
}

/// When GEMMs and convolutions begin, in ascending order.
std::vector<Time> products(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  std::vector<Time> begins;
  const NameSet names(trace, convolves);
  for_each_work(rules, [&](SliceId work, SliceId) {
    bool product = names.contains(trace.slices.name[work.row()]);
    if (trace.kind(work) == SliceKind::kernel) {
      const KernelClass kind = timelines.traits_of(trace, work).kernel_class;
      product =
          kind == KernelClass::gemm || kind == KernelClass::conv || kind == KernelClass::attention;
    }
    if (product) begins.push_back(trace.slices.start[work.row()]);
  });
  std::ranges::sort(begins);
  return begins;
}

using Run = std::vector<CollectiveCall>;

/// What a quarter of the calls takes at most.
Duration quartile(const Trace& trace, const Run& run) {
  std::vector<Duration> lengths;
  lengths.reserve(run.size());
  for (const CollectiveCall& call : run) lengths.push_back(trace.slices.duration[call.slice.row()]);
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 4);
  std::ranges::nth_element(lengths, at);
  return *at;
}

/// Small collectives of one kind with no matrix multiplication between them.
std::vector<Run> runs_of(const RuleContext& rules, std::vector<CollectiveCall> calls, bool sized) {
  const Trace& trace = rules.trace();
  const auto start = [&trace](const CollectiveCall& call) {
    return trace.slices.start[call.slice.row()];
  };
  std::erase_if(calls, [&](const CollectiveCall& call) {
    if (!sized) return rules.device >= 0 && trace.slices.duration[call.slice.row()] > kShort;
    return call.bytes <= 0 || call.bytes > kSmall;
  });
  std::ranges::stable_sort(calls, {}, start);
  const std::vector<Time> begins = products(rules);
  std::vector<Run> runs;
  for (const CollectiveCall& call : calls) {
    const bool same = !runs.empty() && runs.back().back().kind == call.kind;
    if (!same || std::ranges::upper_bound(begins, start(runs.back().back())) !=
                     std::ranges::upper_bound(begins, start(call))) {
      runs.emplace_back();
    }
    runs.back().push_back(call);
  }
  const bool by_time = !sized && rules.device < 0;
  std::erase_if(runs, [&](const Run& run) {
    return run.size() < kShortestRun || (by_time && quartile(trace, run) > kShortOfHost);
  });
  return runs;
}

/// On the processor a call shows twice: where it is made, and on the thread that does it.
bool is_made(std::string_view name) { return name.starts_with("c10d::"); }

/// How many of these are calls of the program.
std::size_t made(const RuleContext& rules, const std::vector<SliceId>& calls) {
  if (rules.device >= 0) return calls.size();
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      calls, [&rules](SliceId call) { return is_made(rules.trace().name(call)); }));
  return count > 0 ? count : calls.size();
}

struct Found {
  std::vector<SliceId> calls;
  std::vector<Claim> claims;
  RemovedTime removed;
  Duration exposed{};
  std::int64_t bytes = 0;
  explicit Found(const RuleContext& rules) : removed(rules) {}
};

void add(const RuleContext& rules, const Run& run, Found& found) {
  const Trace& trace = rules.trace();
  for (const CollectiveCall& call : run) {
    found.bytes += call.bytes;
    found.calls.push_back(call.slice);
    if (rules.device < 0) continue;
    found.exposed += rules.accounting.credited[call.slice.row()];
    found.claims.push_back(claim(rules, call.slice, 1.0 - kLeft));
  }
  if (rules.device >= 0) return;
  std::vector<Interval> stretches;
  for (const CollectiveCall& call : run) stretches.push_back(interval_of(trace, call.slice));
  for (const Interval& stretch : merged(std::move(stretches))) {
    const auto most =
        static_cast<std::int64_t>((1.0 - kLeft) * static_cast<double>(to_ns(stretch.length())));
    std::vector<Claim> whole;
    found.exposed += claim_main_thread(rules, stretch, kWaits, whole);
    claim_main_thread(rules, stretch, kWaits, found.claims, &found.removed, duration_ns(most));
  }
}

Finding make(const RuleContext& rules, Found& found) {
  Finding finding;
  const std::size_t per = made(rules, found.calls) / rules.steps.size();
  finding.title =
      count_text(static_cast<std::int64_t>(per)) +
      " small collectives per step, one after another: " + per_step(rules, found.exposed);
  finding.family = Family::communication;
  finding.weight = weight_of(rules, found.exposed, 5, 15);
  const bool guessed = found.bytes <= 0 && rules.device < 0;
  finding.confidence = guessed ? Confidence::low : Confidence::medium;
  finding.effort = Effort::line;
  const std::string size =
      guessed ? ", whose sizes were not recorded, a quarter of them of at most " +
                    duration_text(kShortOfHost) + " each"
      : found.bytes > 0
          ? " of " + bytes_text(found.bytes / static_cast<std::int64_t>(found.calls.size())) +
                " in the mean"
          : " of at most " + duration_text(kShort) + ", whose sizes were not recorded";
  finding.evidence.push_back(evidence_of(rules, found.calls,
                                         counted_noun(made(rules, found.calls), "collective") +
                                             size +
                                             ", with no matrix multiplication between them"));
  finding.counter_evidence =
      "Waiting for late ranks counts in, and stays: the first collective then waits for them.";
  finding.fix = {
      .text =
          "Send many tensors at once: DistributedDataParallel puts gradients into buckets "
          "(bucket_cap_mb; gradient_as_bucket_view=True); by hand, flatten them into one tensor or "
          "use torch.distributed._coalescing_manager; of scalars, stack them. Caveat: all ranks "
          "must do so in the same order, and a bucket is sent when its last gradient is there.",
      .before = "for p in model.parameters(): dist.all_reduce(p.grad)",
      .after =
          "flat = torch._utils._flatten_dense_tensors(grads)\ndist.all_reduce(flat)\n"
          "for g, whole in zip(grads, torch._utils._unflatten_dense_tensors(flat, grads)): "
          "g.copy_(whole)"};
  finding.verify = "fathom accounting TRACE";
  finding.claims = std::move(found.claims);
  for (const SliceId call : found.calls) {
    finding.edits.scale.emplace_back(call, static_cast<float>(kLeft));
  }
  found.removed.to(finding.edits);
  finding.assumption = "one collective does for five";
  finding.pessimism = 0.2;
  return finding;
}

Outcome check(const RuleContext& rules) {
  const std::vector<CollectiveCall> calls = collective_calls(rules);
  if (calls.empty() || !has_peers(rules)) return std::vector<Finding>{};
  const bool sized =
      std::ranges::any_of(calls, [](const CollectiveCall& call) { return call.bytes > 0; });
  Found found(rules);
  // Of other backends only the host's part was recorded, which does not show what is sent.
  const bool by_gloo = std::ranges::any_of(calls, [&rules](const CollectiveCall& call) {
    return rules.trace().name(call.slice).starts_with("gloo:");
  });
  if (sized || rules.device >= 0 || by_gloo)
    for (const Run& run : runs_of(rules, calls, sized)) add(rules, run, found);
  if (made(rules, found.calls) >= kLeastPerStep * rules.steps.size() &&
      rules.percent(total(found.claims)) >= kLeastPercent) {
    return std::vector<Finding>{make(rules, found)};
  }
  if (!sized)
    return not_recorded(rules, "the sizes of collectives were not recorded", "record_shapes=True");
  return std::vector<Finding>{};
}

}  // namespace
}  // namespace small_collectives_rule

Rule small_collectives() {
  return {.id = "small-collectives",
          .title = "Many small collectives one after another",
          .doc = small_collectives_rule::kDoc,
          .check = small_collectives_rule::check};
}

}  // namespace fathom
