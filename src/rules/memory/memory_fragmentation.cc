// memory-fragmentation: reserved memory far beyond what is allocated.
#include <algorithm>

#include "analysis/operators/peak_memory.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace memory_fragmentation_rule {
namespace {

constexpr std::string_view kDoc =
    "The allocator keeps what it once reserved. Where blocks of changing sizes leave "
    "holes that nothing fits, far more is reserved than was ever allocated. A note where the peak "
    "reserved is at least 1.5 times the peak allocated, a warning from twice on; in either case it "
    "is at least 30 % of the device's memory. Source: TraceML's thresholds; PyTorch's notes on "
    "fragmentation.";

constexpr double kNotedRatio = 1.5;
constexpr double kWarnedRatio = 2.0;
constexpr double kLeastShare = 0.3;

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Device* const device = device_of(rules);
  const PeakMemory memory = compute_peak_memory(rules.context);
  const PeakMemory::Peak* const peak = memory.of(rules.device);
  if (peak == nullptr || peak->reserved == kAbsent || peak->allocated == kAbsent) {
    return not_recorded(rules, "memory was not recorded", "profile_memory=True");
  }
  if (device == nullptr || device->memory_bytes <= 0) {
    return Abstention{"the size of the device's memory was not recorded"};
  }
  const auto reserved = static_cast<double>(peak->reserved);
  const auto allocated = static_cast<double>(peak->allocated);
  if (allocated <= 0 || reserved < kNotedRatio * allocated ||
      reserved < kLeastShare * static_cast<double>(device->memory_bytes)) {
    return std::vector<Finding>{};
  }
  Finding finding;
  finding.title = "The allocator reserves " + real_text(reserved / allocated) +
                  " times what was ever allocated";
  finding.family = Family::memory_capacity;
  const bool warns = reserved >= kWarnedRatio * allocated;
  finding.weight = warns ? Weight::warning : Weight::note;
  finding.confidence = warns ? Confidence::medium : Confidence::low;
  finding.effort = Effort::flag;
  finding.evidence.push_back({.text = bytes_text(peak->reserved) + " reserved, " +
                                      bytes_text(peak->allocated) + " allocated",
                              .slices = {},
                              .where = {},
                              .location = ""});
  finding.counter_evidence =
      "A peak before the recorded time reserves memory that is not needed now: then nothing is "
      "wrong.";
  const std::string command = command_of(rules.trace());
  if (segments_can_expand(rules.trace())) {
    finding.fix = {
        .text = "Let segments grow instead of multiplying; allocate the longest batch first.",
        .before = command,
        .after = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True " + command};
  } else {
    finding.fix.text = "Allocate the longest batch first, or pad lengths to a few sizes.";
  }
  finding.verify = "fathom overview TRACE";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace memory_fragmentation_rule

Rule memory_fragmentation() {
  return {.id = "memory-fragmentation",
          .title = "Memory that is reserved and not used",
          .doc = memory_fragmentation_rule::kDoc,
          .check = memory_fragmentation_rule::check,
          .every_step = true};
}

}  // namespace fathom
