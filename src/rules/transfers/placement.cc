// placement: the way from the host to the device is slower than it should be.
#include <algorithm>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace placement_rule {
namespace {

constexpr std::string_view kDoc =
    "Copies from pinned memory reach about 80 % of a PCIe link's peak. Much less means that the "
    "data takes a detour: the process runs on the other socket (NUMA), the slot has fewer lanes or "
    "an older generation, or several devices share a switch. Fires when uploads of at least 1 MiB "
    "from pinned memory, as bytes per time while any of them runs, reach less than 50 % of the "
    "peak of the device's link, and 80 % of it would save at least 1 % of the step; abstains "
    "without such copies or where the link is not known. Affinity itself is not in a trace. "
    "Sources: NVIDIA's CUDA C++ Best Practices Guide (pinned memory) and bandwidth tests; "
    "PyTorch's tuning guide (NUMA binding).";

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
constexpr double kLeastShare = 0.5;
constexpr double kReachable = 0.8;
constexpr double kLeastPercent = 1.0;
constexpr double kWarnPercent = 5.0;

struct Found {
  std::vector<HostCopy> copies;
  double bytes = 0;
  double seconds = 0;  // While any of them runs: they share the link.
};

Found look(const RuleContext& rules) {
  Found found;
  std::vector<Interval> running;
  for (const HostCopy& copy : host_copies(rules)) {
    if (copy.kind != CopyKind::h2d || copy.host != MemoryKind::pinned || copy.bytes < kLeastBytes) {
      continue;
    }
    found.copies.push_back(copy);
    found.bytes += static_cast<double>(copy.bytes);
    running.push_back(interval_of(rules.trace(), copy.activity));
  }
  for (const Interval& stretch : merged(std::move(running))) {
    found.seconds += static_cast<double>(to_ns(stretch.length())) * 1e-9;
  }
  return found;
}

std::string rate_text(double bytes_per_second) {
  return bytes_text(static_cast<std::int64_t>(bytes_per_second)) + "/s";
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Found found = look(rules);
  if (found.copies.empty() || found.seconds <= 0) {
    return Abstention{"no copy of at least 1 MiB from pinned memory shows what the link reaches"};
  }
  const DeviceSpec* const device = rules.roofline.device;
  if (device == nullptr || device->pcie_bandwidth <= 0)
    return Abstention{"the peak of the device's link is not known"};
  const double peak = device->pcie_bandwidth;
  const double rate = found.bytes / found.seconds;
  if (rate >= kLeastShare * peak) return std::vector<Finding>{};

  const double left = rate / (kReachable * peak);
  Finding finding;
  for (const HostCopy& copy : found.copies) {
    finding.claims.push_back(claim(rules, copy.activity, 1.0 - left));
    finding.edits.scale.emplace_back(copy.activity, static_cast<float>(left));
  }
  const Duration time = total(finding.claims);
  if (rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title = "Uploads from pinned memory reach " + rate_text(rate) + ", " +
                  percent_text(100 * rate / peak) +
                  " of the link's peak: " + per_step(rules, time) + " could be saved";
  finding.family = Family::physical;
  finding.weight = rules.percent(time) >= kWarnPercent ? Weight::warning : Weight::note;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::flag;
  finding.evidence.push_back(evidence_of(
      rules, found.copies,
      volume_text(found.copies) + " of at least 1 MiB from pinned memory; the peak is " +
          rate_text(peak) + " (" + std::string(device->name) + ")"));
  finding.counter_evidence =
      "Other devices or copies in the other direction may use the same lanes at that time, and "
      "virtual machines may hide what the slot offers.";
  finding.fix = {
      .text =
          "Bind each process to the cores and memory next to its device (nvidia-smi topo -m "
          "shows them); check the link's width and generation under load (nvidia-smi -q, "
          "PCIe); spread devices over switches.",
      .before = command_of(rules.trace()),
      .after = "numactl --cpunodebind=0 --membind=0 " + command_of(rules.trace()) +
               "  # the device's node"};
  finding.verify = "fathom copies TRACE";
  finding.assumption = "these copies then run at 80 % of the link's peak";
  finding.pessimism = 0.2;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace placement_rule

Rule placement() {
  return {.id = "placement",
          .title = "A slow way from host to device",
          .doc = placement_rule::kDoc,
          .check = placement_rule::check,
          .without_operators = true};
}

}  // namespace fathom
