// activations-dominate: most of the peak memory is what the forward pass keeps for the backward.
#include <algorithm>
#include <optional>

#include "base/quantity_text.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace activations_dominate_rule {
namespace {

constexpr std::string_view kDoc =
    "Memory that a step adds to what is allocated when it starts (parameters, optimizer states) is "
    "activations, gradients and workspaces. Per counted step: the peak less the level at its "
    "start; "
    "the first step is left out where there are others, since it allocates what stays. Fires when "
    "that is at least half of the peak (median over the steps); warns when the peak is also over "
    "80 % of the device's memory, and is silent where the peak is below 30 % of it. "
    "Abstains without allocator events of a device, and where the size of its memory is not known. "
    "Source: TraceML's "
    "80 % for the peak; half is our choice.";

constexpr double kLeastShare = 0.5;
constexpr double kNearlyFull = 0.8;

/// Whose memory is looked at: that of the diagnosed device.
bool concerns(const RuleContext& rules, std::size_t row) {
  const MemoryEvents& memory = rules.trace().memory;
  return memory.device_type[row] > 0 && memory.device[row] == rules.device &&
         memory.total_allocated[row] != kAbsent;
}

/// Allocator events of the device, by time.
std::vector<std::size_t> events_of(const RuleContext& rules) {
  const MemoryEvents& memory = rules.trace().memory;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    if (concerns(rules, row)) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, [&memory](std::size_t row) { return memory.time[row]; });
  return rows;
}

struct StepMemory {
  std::int64_t start = 0;
  std::int64_t peak = 0;
  Time peak_at{};
  [[nodiscard]] std::int64_t added() const { return peak - start; }
  [[nodiscard]] double share() const {
    return peak <= 0 ? 0.0 : static_cast<double>(added()) / static_cast<double>(peak);
  }
};

std::optional<StepMemory> memory_of(const RuleContext& rules, const std::vector<std::size_t>& rows,
                                    const Step& step) {
  const MemoryEvents& memory = rules.trace().memory;
  const auto time_of = [&memory](std::size_t row) { return memory.time[row]; };
  const auto first = std::ranges::lower_bound(rows, step.host.begin, {}, time_of);
  const auto last = std::lower_bound(first, rows.end(), step.host.end,
                                     [&](std::size_t row, Time end) { return time_of(row) < end; });
  if (first == last) return {};
  StepMemory found;
  found.start = memory.total_allocated[*first] - memory.bytes[*first];
  for (auto row = first; row != last; ++row) {
    if (memory.total_allocated[*row] <= found.peak) continue;
    found.peak = memory.total_allocated[*row];
    found.peak_at = memory.time[*row];
  }
  return found;
}

Finding make(const RuleContext& rules, const StepMemory& step) {
  const Device* const device = device_of(rules);
  const double full =
      device == nullptr || device->memory_bytes <= 0
          ? 0.0
          : static_cast<double>(step.peak) / static_cast<double>(device->memory_bytes);
  Finding finding;
  finding.title = "What a step allocates is " + percent_text(100 * step.share()) +
                  " of the peak memory: " + bytes_text(step.added()) + " of " +
                  bytes_text(step.peak);
  finding.family = Family::memory_capacity;
  finding.weight = full >= kNearlyFull ? Weight::warning : Weight::note;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      {.text = bytes_text(step.start) + " are allocated when the step starts, " +
               bytes_text(step.peak) + " at its peak" +
               (full > 0 ? ", " + percent_text(100 * full) + " of the device's memory" : ""),
       .slices = {},
       .where = Interval{step.peak_at, step.peak_at},
       .location = {}});
  finding.counter_evidence =
      "Gradients and workspaces are in that number; memory that is free anyway needs no saving.";
  finding.fix = {
      .text =
          "To fit more: checkpoint cheap, large activations (elementwise, normalisation, "
          "attention without a fused kernel), which are computed again in the backward pass; "
          "split the batch and accumulate gradients; bf16 activations; fused attention and "
          "fused cross-entropy, which keep less. Caveats: checkpointing whole blocks costs "
          "about a third of the forward and backward time; small batches use the device less.",
      .before = "x = block(x)",
      .after = "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"};
  finding.verify = "fathom overview TRACE";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const std::vector<std::size_t> rows =
      rules.device < 0 ? std::vector<std::size_t>() : events_of(rules);
  if (rows.empty()) {
    return not_recorded(rules, "no allocator events of a device were recorded",
                        "profile_memory=True");
  }
  if (!is_training(rules)) return std::vector<Finding>{};
  std::vector<StepMemory> steps;
  for (const Step* const step : rules.steps) {
    if (rules.steps.size() > 1 && step == rules.steps.front()) continue;
    if (const auto memory = memory_of(rules, rows, *step)) steps.push_back(*memory);
  }
  if (steps.empty()) return std::vector<Finding>{};
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle, {}, &StepMemory::share);
  if (middle->share() < kLeastShare) return std::vector<Finding>{};
  const Device* const device = device_of(rules);
  if (device == nullptr || device->memory_bytes <= 0)
    return Abstention{"the size of the device's memory was not recorded"};
  if (mostly_free(rules, middle->peak)) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(make(rules, *middle));
  return findings;
}

}  // namespace
}  // namespace activations_dominate_rule

Rule activations_dominate() {
  return {.id = "activations-dominate",
          .title = "Activations that dominate the peak memory",
          .doc = activations_dominate_rule::kDoc,
          .check = activations_dominate_rule::check,
          .every_step = true};
}

}  // namespace fathom
