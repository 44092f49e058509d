// optimizer-memory: gradients and the optimizer's state are most of the peak memory.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/device_memory.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace optimizer_memory_rule {
namespace {

constexpr std::string_view kDoc =
    "Training keeps a gradient for each parameter, and Adam two more numbers. Gradients are what a "
    "step allocated before Optimizer.step and still holds when that begins; the optimizer's state "
    "what its first recorded step allocated and kept, or for Adam, where that was not recorded, "
    "two thirds of what is allocated when a step begins, where that is at least 2.5 times the "
    "gradients. Fires when both together are at least half of the peak of a counted step; warns "
    "when the peak is also over 80 % of the device's memory. Abstains without allocator events of "
    "a device, without the size of its memory, and where no Optimizer.step was recorded. Source: "
    "Rajbhandari et al., ZeRO (2020) for the parts; TraceML's 80 % for the peak; half is our "
    "choice.";

constexpr double kLeastShare = 0.5;
constexpr double kNearlyFull = 0.8;
constexpr double kAdamHolds = 2.5;  // times the gradients: parameters and two numbers for each
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20U;

bool is_step(std::string_view name) { return name.starts_with("Optimizer.step#"); }

/// The steps of the optimizer, outermost ranges, by time.
std::vector<SliceId> optimizer_steps(const RuleContext& rules) {
  const NameSet names(rules.trace(), is_step);
  std::vector<SliceId> found;
  if (!names.any()) return found;
  const Trace& trace = rules.trace();
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    Time open = Time::min();  // Until then the last of the thread lasts.
    for (const SliceId slice : thread.slices) {
      if (!names.contains(trace.slices.name[slice.row()])) continue;
      if (trace.slices.start[slice.row()] < open) continue;
      found.push_back(slice);
      open = trace.slices.end(slice);
    }
  }
  std::ranges::stable_sort(found, {},
                           [&trace](SliceId slice) { return trace.slices.start[slice.row()]; });
  return found;
}

struct Parts {
  std::int64_t peak = 0;
  std::int64_t gradients = 0;
  std::int64_t state = 0;
  bool state_assumed = false;  // By the kind of optimizer.
  Interval where{};
  [[nodiscard]] double share() const {
    return peak <= 0 ? 0.0 : static_cast<double>(gradients + state) / static_cast<double>(peak);
  }
};

/// Of the last counted step with an optimizer's step, since the first ones allocate what stays.
std::optional<Parts> parts_of(const RuleContext& rules, const DeviceMemory& memory,
                              const std::vector<SliceId>& updates) {
  const Slices& slices = rules.trace().slices;
  for (auto step = rules.steps.rbegin(); step != rules.steps.rend(); ++step) {
    const Interval host = (*step)->host;
    const auto update = std::ranges::lower_bound(
        updates, host.begin, {}, [&slices](SliceId slice) { return slices.start[slice.row()]; });
    if (update == updates.end() || slices.end(*update) > host.end) continue;
    const Time begin = slices.start[update->row()];
    const std::optional<std::int64_t> peak = memory.peak_in(host);
    const std::optional<std::int64_t> held = memory.level_at(host.begin);
    if (!peak) continue;
    Parts parts{.peak = *peak, .gradients = memory.kept({host.begin, begin}, begin), .where = host};
    const SliceId first = updates.front();
    const Interval first_update{slices.start[first.row()], slices.end(first)};
    parts.state = memory.kept(first_update, rules.trace().span.end);
    const bool adam = rules.trace().name(*update).find("Adam") != std::string_view::npos;
    if (parts.state < kLeastBytes && adam && held && parts.gradients >= kLeastBytes &&
        static_cast<double>(*held) >= kAdamHolds * static_cast<double>(parts.gradients)) {
      parts.state = *held / 3 * 2;
      parts.state_assumed = true;
    }
    return parts;
  }
  return {};
}

Finding make(const RuleContext& rules, const Parts& parts) {
  const Device* const device = device_of(rules);
  const double full =
      device == nullptr || device->memory_bytes <= 0
          ? 0.0
          : static_cast<double>(parts.peak) / static_cast<double>(device->memory_bytes);
  Finding finding;
  finding.title = "Gradients and optimizer state are " + percent_text(100 * parts.share()) +
                  " of the peak memory: " + bytes_text(parts.gradients + parts.state) + " of " +
                  bytes_text(parts.peak);
  finding.family = Family::memory_capacity;
  finding.weight = full >= kNearlyFull ? Weight::warning : Weight::note;
  finding.confidence = parts.state_assumed ? Confidence::low : Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      {.text = bytes_text(parts.gradients) +
               " that the step allocated are held when "
               "Optimizer.step begins; " +
               (parts.state_assumed
                    ? "Adam's two numbers per parameter are about " + bytes_text(parts.state) +
                          ", two thirds of what is allocated before the step"
                    : bytes_text(parts.state) + " of optimizer state"),
       .slices = {},
       .where = parts.where,
       .location = ""});
  finding.counter_evidence =
      "Losses and batches that the program holds count as gradients here; memory that is free "
      "anyway needs no saving.";
  finding.fix = {
      .text =
          "To fit more: an optimizer with smaller state (8-bit Adam, Adafactor), sharded state "
          "and gradients over ranks (ZeRO, FSDP), fewer trained parameters (LoRA), gradients "
          "freed as they are used (the optimizer's step in a hook after accumulation). The "
          "first changes the course of training slightly: compare the loss.",
      .before = "opt = torch.optim.AdamW(model.parameters())",
      .after = "opt = bitsandbytes.optim.AdamW8bit(model.parameters())"};
  finding.verify = "fathom overview TRACE";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const DeviceMemory memory(rules);
  if (memory.rows().empty())
    return not_recorded(rules, "no allocator events of a device were recorded",
                        "profile_memory=True");
  if (!is_training(rules)) return std::vector<Finding>{};
  const std::vector<SliceId> updates = optimizer_steps(rules);
  if (updates.empty()) return Abstention{"no Optimizer.step annotation was recorded"};
  const std::optional<Parts> parts = parts_of(rules, memory, updates);
  if (!parts || parts->share() < kLeastShare || parts->share() > 1) return std::vector<Finding>{};
  const Device* const device = device_of(rules);
  if (device == nullptr || device->memory_bytes <= 0)
    return Abstention{"the size of the device's memory was not recorded"};
  if (mostly_free(rules, parts->peak)) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(make(rules, *parts));
  return findings;
}

}  // namespace
}  // namespace optimizer_memory_rule

Rule optimizer_memory() {
  return {.id = "optimizer-memory",
          .title = "Gradients and optimizer state that dominate the peak memory",
          .doc = optimizer_memory_rule::kDoc,
          .check = optimizer_memory_rule::check,
          .every_step = true};
}

}  // namespace fathom
