// allocator-activity: memory is asked from the driver while steps run.
#include <algorithm>
#include <set>

#include "analysis/structure/enclosing_ops.h"
#include "analysis/structure/stretches.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace allocator_activity_rule {
namespace {

constexpr std::string_view kDoc =
    "cudaMalloc, cudaFree, cudaHostAlloc and their kin take 10 us to milliseconds, and freeing "
    "waits for the device. PyTorch's caching allocator avoids them once it holds what a step "
    "needs; calls in steady state mean that sizes vary, that the cache is emptied "
    "(torch.cuda.empty_cache), or that memory is nearly full: then the allocator frees its cache "
    "and asks again (a retry), which is reported only where recorded memory shows that at least 80 "
    "% is reserved. What libraries free while they start is warm-up. Counted is the time that the "
    "device idles while its launching thread is inside such a call; where its activity was not "
    "recorded, the time of the main thread. Fires from 1 % of the step. Calls in the first counted "
    "step "
    "only, or in a single recorded one, may be warm-up; the finding notes it. Sources: PyTorch's "
    "CUDA semantics (memory management), tuning guide (preallocate for varying lengths).";

constexpr double kLeastPercent = 1.0;
/// Beside a warm-up of this share the first calls of a step fill the cache: less is not worth a
/// word.
constexpr double kMuchWarmUp = 20.0;
constexpr double kLeastPercentWhenWarmingUp = 2.0;
/// Memory that is reserved to this share of the device's is nearly full.
constexpr double kNearlyFull = 0.8;

bool is_free(std::string_view name) { return name.find("Free") != std::string_view::npos; }
bool is_for_host(std::string_view name) { return name.find("Host") != std::string_view::npos; }

struct Found {
  std::vector<SliceId> calls;  // Outermost, in counted steps.
  std::size_t frees = 0;
  std::size_t host = 0;     // Pinned memory.
  std::size_t retries = 0;  // Frees inside an operator that also allocates.
  std::size_t empties = 0;  // Operators that make a tensor without filling it.
  std::size_t runtime = 0;  // Calls of the runtime at all.
  std::set<const Step*> steps;
  std::vector<Claim> claims;
  Duration spent{};
  RemovedTime removed;  // Without a device.
  explicit Found(const RuleContext& rules) : removed(rules) {}
};

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  const EnclosingOps ops(trace, rules.context.nesting());
  const NameSet empty(trace, [](std::string_view name) {
    return name == "aten::empty" || name == "aten::empty_strided";
  });
  Found found(rules);
  SliceId freeing;  // The operator around the last free.
  const auto allocates = [&](SliceId slice) {
    return is_runtime_call(trace.kind(slice)) &&
           links.call_kind(trace, slice) == CallKind::allocate;
  };
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (empty.contains(trace.slices.name[slice.row()]) &&
          rules.counts(trace.slices.start[slice.row()]))
        ++found.empties;
      if (!is_runtime_call(trace.kind(slice))) continue;
      ++found.runtime;
      const SliceId around = parent[slice.row()];
      if (!allocates(slice) || (around.valid() && allocates(around))) continue;
      const Step* const step = rules.step_at(trace.slices.start[slice.row()]);
      if (step == nullptr) continue;
      found.calls.push_back(slice);
      found.steps.insert(step);
      found.spent += trace.slices.duration[slice.row()];
      if (is_for_host(trace.name(slice))) ++found.host;
      const SliceId op = ops.of(slice);
      if (is_free(trace.name(slice))) {
        ++found.frees;
        freeing = op;
      } else if (op.valid() && op == freeing) {
        ++found.retries;
        freeing = {};
      }
    }
  }
  for (const SliceId call : found.calls) {
    const Interval stretch = interval_of(trace, call);
    if (rules.device >= 0) {
      claim_idle(rules, stretch, {Bucket::allocation}, found.claims);
    } else {
      claim_main_thread(rules, stretch, {}, found.claims, &found.removed);
    }
  }
  return found;
}

/// Only where it can be warm-up: in one step of several, the first; or there is only one.
bool may_be_warm_up(const RuleContext& rules, const Found& found) {
  return rules.steps.size() == 1 ||
         (found.steps.size() == 1 && *found.steps.begin() == rules.steps.front());
}

/// Was memory recorded, and nearly as much of it reserved as the device has?
bool nearly_full(const RuleContext& rules) {
  const Device* const device = device_of(rules);
  if (device == nullptr || device->memory_bytes <= 0) return false;
  const double full = kNearlyFull * static_cast<double>(device->memory_bytes);
  const MemoryEvents& memory = rules.trace().memory;
  for (std::size_t i = 0; i < memory.time.size(); ++i) {
    const bool here = memory.device_type[i] != 0 && memory.device[i] == rules.device;
    if (here && static_cast<double>(memory.total_reserved[i]) >= full) return true;
  }
  return false;
}

/// Is the allocator's cache off: does nearly every operator that makes a tensor ask the driver, and
/// give back as much?
bool is_uncached(const Found& found) {
  constexpr std::size_t kFewest = 20;
  const std::size_t asked = found.calls.size() - found.frees - found.host;
  return asked >= kFewest && found.frees >= asked / 2 && found.empties < 2 * asked;
}

Fix fix_of(const RuleContext& rules, const Found& found, bool full) {
  const Trace& trace = rules.trace();
  const bool training = is_training(rules);
  const std::string command = command_of(trace);
  if (found.retries > 0 && full) {
    Fix fix{
        .text = std::string("Memory is nearly full: the allocator frees its cache and asks again. "
                            "Use a smaller batch") +
                (training ? ", checkpointing" : "") + " or less fragmentation" +
                (segments_can_expand(trace) ? " (expandable_segments:True)." : "."),
        .before = "",
        .after = ""};
    if (segments_can_expand(trace)) {
      fix.before = command;
      fix.after = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True " + command;
    }
    return fix;
  }
  if (is_uncached(found)) {
    return {
        .text =
            "Nearly each tensor is asked from the driver and given back: the allocator's cache "
            "is off, or is emptied all the time. Unset PYTORCH_NO_CUDA_MEMORY_CACHING, which is "
            "meant for finding errors; do not empty the cache in the loop.",
        .before = "PYTORCH_NO_CUDA_MEMORY_CACHING=1 " + command,
        .after = command};
  }
  return {
      .text = std::string("Let the cache keep its memory: do not empty it in the loop; run the "
                          "longest batch first, or pad lengths to a few sizes") +
              (segments_can_expand(trace) ? "; expandable_segments:True lets blocks grow" : "") +
              "." + (found.host > 0 ? " Pin buffers once and use them again." : ""),
      .before = training ? "for batch in loader: train(batch)" : "for x in inputs: model(x)",
      .after = training ? "train(longest_batch)  # reserves what all others need\n"
                          "for batch in loader: train(batch)"
                        : "model(longest)  # reserves what all others need\n"
                          "for x in inputs: model(x)"};
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0 && !has_calls(rules.trace()))
    return Abstention{"no device activity was recorded"};
  Found found = look(rules);
  if (found.runtime == 0) {
    return Abstention{
        "calls of the runtime were not recorded: include ProfilerActivity.CPU or a device "
        "activity that records them"};
  }
  const Duration time = total(found.claims);
  if (rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  const bool warm_up = may_be_warm_up(rules, found);
  if (warm_up && rules.percent(warm_up_time(rules)) >= kMuchWarmUp &&
      rules.percent(time) < kLeastPercentWhenWarmingUp) {
    return std::vector<Finding>{};
  }
  Finding finding;
  finding.title = "Memory is asked from the driver inside the step: " + per_step(rules, time);
  finding.family = Family::allocation;
  finding.weight = warm_up ? Weight::note : weight_of(rules, time, 3, 10);
  finding.confidence = warm_up ? Confidence::low : Confidence::high;
  finding.effort = Effort::line;
  std::string text = counted_noun(found.calls.size(), "call") + " to allocate or free (" +
                     count_text(static_cast<std::int64_t>(found.frees)) + " free, " +
                     count_text(static_cast<std::int64_t>(found.host)) +
                     " for pinned memory), in " + counted_noun(found.steps.size(), "step") +
                     " of " + count_text(static_cast<std::int64_t>(rules.steps.size())) + ", " +
                     per_step(rules, found.spent);
  const bool full = nearly_full(rules);
  if (found.retries > 0 && full)
    text += "; " + counted_noun(found.retries, "time") + " freed and retried";
  finding.evidence.push_back(evidence_of(rules, found.calls, std::move(text)));
  finding.counter_evidence =
      warm_up
          ? "Nothing shows that later steps allocate too: it may be warm-up. Record later steps (" +
                recording_later(rules.trace(), 10, 2, 5) + ")."
      : rules.device < 0 ? "The device was not recorded: what it computes meanwhile costs nothing."
                         : "The device is busy during " + per_step(rules, found.spent - time) +
                               " of these calls, which costs nothing.";
  finding.fix = fix_of(rules, found, full);
  finding.verify = "fathom accounting TRACE";
  finding.claims = std::move(found.claims);
  if (rules.device >= 0) {
    scale_trees(rules, found.calls, 0.0F, finding.edits);
  } else {
    found.removed.to(finding.edits);
  }
  finding.assumption = "none of these calls is needed";
  finding.pessimism = warm_up ? 0.0 : 0.6;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace allocator_activity_rule

Rule allocator_activity() {
  return {.id = "allocator-activity",
          .title = "Memory asked from the driver inside steps",
          .doc = allocator_activity_rule::kDoc,
          .check = allocator_activity_rule::check};
}

}  // namespace fathom
