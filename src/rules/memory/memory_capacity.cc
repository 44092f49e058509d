// memory-capacity: the allocator is near the limit of the device.
#include <algorithm>

#include "analysis/operators/peak_memory.h"
#include "base/quantity_text.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace memory_capacity_rule {
namespace {

constexpr std::string_view kDoc =
    "What the allocator holds at its peak, against the memory of the device. Near the "
    "limit, a larger batch is out of reach, and the allocator starts to free and retry. "
    "Fires from 90 % on; critical from 97 %. Source: the former TensorBoard plugin's "
    "rule (90 %); PyTorch's notes on memory management.";

constexpr double kNearPercent = 90.0;
constexpr double kFullPercent = 97.0;

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Device* const device = device_of(rules);
  const PeakMemory memory = compute_peak_memory(rules.context);
  const PeakMemory::Peak* const peak = memory.of(rules.device);
  if (peak == nullptr || (peak->reserved == kAbsent && peak->allocated == kAbsent)) {
    return not_recorded(rules, "memory was not recorded", "profile_memory=True");
  }
  if (device == nullptr || device->memory_bytes <= 0) {
    return Abstention{"the size of the device's memory was not recorded"};
  }
  const std::int64_t held = std::max(peak->reserved, peak->allocated);
  const double percent =
      100.0 * static_cast<double>(held) / static_cast<double>(device->memory_bytes);
  if (percent < kNearPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "The allocator holds " + percent_text(percent) + " of the device's memory";
  finding.family = Family::memory_capacity;
  finding.weight = percent >= kFullPercent ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back({.text = bytes_text(held) + " of " + bytes_text(device->memory_bytes),
                              .slices = {},
                              .where = {},
                              .location = ""});
  finding.counter_evidence =
      "What is reserved but not allocated is free for the program's own next allocations.";
  if (is_training(rules)) {
    finding.fix = {
        .text =
            "Recompute activations instead of keeping them (checkpointing: less memory for "
            "about a third more forward time), train in 16-bit floats, accumulate gradients "
            "over smaller batches, or shard the model's states over devices. Caveat: 16-bit floats "
            "round; compare the results.",
        .before = "y = block(x)",
        .after = "y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"};
  } else {
    finding.fix = {.text =
                       "Keep no graph for gradients, use a smaller batch or shorter sequences, or "
                       "weights and caches of fewer bits. Caveat: fewer bits round; compare the "
                       "results.",
                   .before = "y = model(x)",
                   .after = "with torch.inference_mode(): y = model(x)"};
  }
  finding.verify = "fathom overview TRACE";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace memory_capacity_rule

Rule memory_capacity() {
  return {.id = "memory-capacity",
          .title = "Device memory nearly full",
          .doc = memory_capacity_rule::kDoc,
          .check = memory_capacity_rule::check,
          .every_step = true};
}

}  // namespace fathom
