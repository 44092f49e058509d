// memory-growth: more memory is allocated after each step than after the one before.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/counted.h"
#include "rules/common/device_memory.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace memory_growth_rule {
namespace {

constexpr std::string_view kDoc =
    "A program that keeps something of each step (losses with their graphs, outputs in a list, a "
    "cache) runs out of memory in the end. Compares what is allocated when each counted step ends, "
    "the first left out, since it allocates what stays. Fires when that rises after every one of "
    "at least four steps, by at least 1 MiB each and never less than half of the median rise. "
    "Abstains without allocator events of a device, or with fewer steps. Source: PyTorch's FAQ, "
    "\"My model reports out of memory\"; the numbers are our choice.";

constexpr std::size_t kLeastRises = 3;
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20U;

/// What is allocated at the ends of the counted steps' host spans, but for the first.
std::vector<std::int64_t> levels_of(const RuleContext& rules, const DeviceMemory& memory) {
  std::vector<std::int64_t> levels;
  for (const Step* const step : rules.steps) {
    if (step == rules.steps.front() || step->pid != rules.steps.front()->pid) continue;
    if (const auto level = memory.level_at(step->host.end)) levels.push_back(*level);
  }
  return levels;
}

/// The median rise per step where it rises each time, else nothing.
std::optional<std::int64_t> rise_of(const std::vector<std::int64_t>& levels) {
  std::vector<std::int64_t> rises;
  for (std::size_t i = 1; i < levels.size(); ++i) rises.push_back(levels[i] - levels[i - 1]);
  if (rises.size() < kLeastRises) return {};
  std::ranges::sort(rises);
  const std::int64_t median = rises[rises.size() / 2];
  if (rises.front() < kLeastBytes || rises.front() < median / 2) return {};
  return median;
}

std::string room_text(const RuleContext& rules, std::int64_t level, std::int64_t rise) {
  const Device* const device = device_of(rules);
  if (device == nullptr || device->memory_bytes <= level) return {};
  return "; at that pace the device is full after " +
         count_text((device->memory_bytes - level) / rise) + " more steps";
}

Finding make(const RuleContext& rules, const std::vector<std::int64_t>& levels, std::int64_t rise) {
  Finding finding;
  finding.title = "Allocated memory grows by " + bytes_text(rise) + " per step";
  finding.family = Family::memory_capacity;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back({.text = "from " + bytes_text(levels.front()) + " to " +
                                      bytes_text(levels.back()) + " over " +
                                      count_text(static_cast<std::int64_t>(levels.size()) - 1) +
                                      " steps" + room_text(rules, levels.back(), rise),
                              .slices = {},
                              .where = rules.steps.back()->host,
                              .location = ""});
  finding.counter_evidence =
      "A cache that fills up once, or longer inputs from step to step, grow too and then stop.";
  finding.fix = {
      .text =
          "Keep numbers instead of tensors: what is collected over steps (losses, metrics, "
          "outputs) holds the graph of its step. Look for lists, for retain_graph=True and for "
          "hidden state that is carried on without detach(). .item() waits for the device: "
          "detach() every step, .item() when it is printed.",
      .before = "losses.append(loss)",
      .after = "losses.append(loss.detach())"};
  finding.verify = "fathom ops TRACE --sort -device_memory_self_bytes";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const DeviceMemory memory(rules);
  if (memory.rows().empty())
    return not_recorded(rules, "no allocator events of a device were recorded",
                        "profile_memory=True");
  const std::vector<std::int64_t> levels = levels_of(rules, memory);
  if (levels.size() <= kLeastRises)
    return Abstention{"fewer than five steps were recorded with allocator events"};
  const std::optional<std::int64_t> rise = rise_of(levels);
  if (!rise) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(make(rules, levels, *rise));
  return findings;
}

}  // namespace
}  // namespace memory_growth_rule

Rule memory_growth() {
  return {.id = "memory-growth",
          .title = "Memory that grows from step to step",
          .doc = memory_growth_rule::kDoc,
          .check = memory_growth_rule::check,
          .every_step = true};
}

}  // namespace fathom
