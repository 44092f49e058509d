// low-occupancy: kernels of which too few warps fit on a multiprocessor.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/kernel_class.h"
#include "analysis/kernels/occupancy.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace low_occupancy_rule {
namespace {

constexpr std::string_view kDoc =
    "A multiprocessor hides the latency of memory by switching between warps; registers, shared "
    "memory or block size limit how many fit. Fires for kernels that take at least 5 % of the "
    "step, of which less than 50 % of the warps fit (theoretical occupancy, from the launch), "
    "where that matters: the grid fills the device at least once, its operator is below 60 % of "
    "its "
    "roof, and it is no GEMM, convolution, attention or collective, whose kernels are built for "
    "few warps. "
    "Nothing is predicted: more warps need not be faster. Abstains where the launches were not "
    "recorded with registers and shared memory, or the roof of such a kernel is not known. Source: "
    "CUDA C++ Best Practices Guide, Occupancy; Nsight Compute's rule TheoreticalOccupancy; 50 % is "
    "our choice.";

constexpr double kLeastPercent = 5.0;
constexpr double kLowPercent = 50.0;
constexpr std::size_t kMostFindings = 2;

/// Launches of one kernel with too few warps.
struct Group {
  Blamed blamed;
  Occupancy occupancy;  // Of the first of them.
  LaunchConfig config;
  bool rated = true;  // The roof of each is known.
};

const LaunchConfig* config_of(const Trace& trace, SliceId activity) {
  const std::uint32_t detail = trace.slices.detail[activity.row()];
  if (trace.kind(activity) != SliceKind::kernel || detail == SliceId::kNone) return nullptr;
  const LaunchConfigId config = trace.kernels.config[detail];
  return config.valid() ? &trace.launch_configs[config.row()] : nullptr;
}

struct Groups {
  std::map<StringId, Group> low;  // by name of the kernel
  bool any_known = false;         // Was any occupancy known?
};

Groups groups_of(const RuleContext& rules, const MultiprocessorLimits& limits) {
  Groups groups;
  const Trace& trace = rules.trace();
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const LaunchConfig* const config = config_of(trace, activity);
    if (config == nullptr) return;
    const std::optional<Occupancy> occupancy = theoretical_occupancy(limits, *config);
    if (!occupancy) return;
    groups.any_known = true;
    if (occupancy->percent >= kLowPercent) return;
    const std::optional<double> filled = waves(limits, *config, *occupancy);
    if (!filled || *filled < 1) return;
    const RooflineRow* const row = rules.roofline.row_of(activity);
    const bool rated = row != nullptr && row->bound != Bound::unknown;
    if (rated && row->roof_percent >= kLatencyPercent) return;
    Group& group = groups.low[trace.slices.name[activity.row()]];
    if (group.blamed.activities.empty()) {
      group.occupancy = *occupancy;
      group.config = *config;
    }
    group.rated = group.rated && rated;
    group.blamed.add(rules, activity, op);
  });
  return groups;
}

std::string advice(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::registers:
      return "Registers limit it: in a kernel of your own use fewer (smaller tiles, "
             "__launch_bounds__, in Triton fewer elements per program or more num_warps), as long "
             "as none spill.";
    case OccupancyLimiter::shared_memory:
      return "Shared memory limits it: smaller tiles or fewer stages (num_stages in Triton), or a "
             "larger carve-out.";
    case OccupancyLimiter::blocks:
      return "The number of blocks limits it: blocks are too small, give each more threads.";
    case OccupancyLimiter::warps:
      break;
  }
  return "The block size limits it: choose one that divides the warps of a multiprocessor.";
}

Finding describe(const RuleContext& rules, StringId name, const Group& group) {
  Finding finding;
  finding.key = std::string(rules.trace().text(name));
  finding.title =
      "Only " + percent_text(group.occupancy.percent) + " of the warps fit, limited by " +
      std::string(to_string(group.occupancy.limiter)) + ": " + per_step(rules, group.blamed.time);
  finding.family = Family::latency;
  finding.weight = rules.percent(group.blamed.time) >= 20 ? Weight::warning : Weight::note;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(
      rules, group.blamed,
      finding.key + ": " + count_text(group.occupancy.blocks_per_sm) + " blocks of " +
          count_text(volume(group.config.block)) + " threads fit on a multiprocessor, at " +
          count_text(group.config.registers) + " registers per thread"));
  finding.counter_evidence =
      "Kernels with much independent work per thread are fast with few warps; only a try shows.";
  finding.fix = {.text = advice(group.occupancy.limiter) +
                         " For a library's kernel: another implementation, layout or type.",
                 .before = "",
                 .after = ""};
  finding.verify = "fathom kernels TRACE --wide --limit 10";
  return finding;
}

/// GEMMs, convolutions and attention hold their tiles in registers and overlap loads by
/// themselves; collectives wait.
bool is_built_for_few_warps(std::string_view name) {
  const KernelClass kind = classify_kernel(name).kernel_class;
  return kind == KernelClass::gemm || kind == KernelClass::conv || kind == KernelClass::attention ||
         kind == KernelClass::communication;
}

/// Kernels that take enough, the longest first.
std::vector<std::map<StringId, Group>::const_iterator> large(const RuleContext& rules,
                                                             const Groups& groups) {
  const Trace& trace = rules.trace();
  std::vector<std::map<StringId, Group>::const_iterator> found;
  for (auto at = groups.low.begin(); at != groups.low.end(); ++at) {
    if (is_built_for_few_warps(trace.text(at->first))) continue;
    if (rules.percent(at->second.blamed.time) >= kLeastPercent) found.push_back(at);
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const auto& at) { return at->second.blamed.time; });
  return found;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Device* const device = device_properties(rules.trace(), rules.device);
  const auto limits = device == nullptr ? std::nullopt : multiprocessor_limits(*device);
  if (!limits || limits->sms <= 0)
    return Abstention{"the limits of the device's multiprocessors are not known"};
  const Groups groups = groups_of(rules, *limits);
  if (!groups.any_known)
    return Abstention{"registers and shared memory of the launches were not recorded"};
  std::vector<Finding> findings;
  bool unrated = false;
  for (const auto& at : large(rules, groups)) {
    unrated = unrated || !at->second.rated;
    if (at->second.rated && findings.size() < kMostFindings)
      findings.push_back(describe(rules, at->first, at->second));
  }
  if (findings.empty() && unrated)
    return Abstention{"how far kernels with few warps are from their roof is not known"};
  return findings;
}

}  // namespace
}  // namespace low_occupancy_rule

Rule low_occupancy() {
  return {.id = "low-occupancy",
          .title = "Kernels of which too few warps fit on a multiprocessor",
          .doc = low_occupancy_rule::kDoc,
          .check = low_occupancy_rule::check};
}

}  // namespace fathom
