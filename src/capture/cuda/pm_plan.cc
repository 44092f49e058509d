// Names of metrics differ between chips: of each track, the first that the chip has is taken.
#include "capture/cuda/pm_plan.h"

#include <algorithm>
#include <array>
#include <span>

namespace fathom::cuda {
namespace {

struct Candidate {
  std::string_view track;
  std::string_view unit;
  std::array<std::string_view, 4> metrics;
};

// The most telling first. Throughputs are of what the chip can sustain.
constexpr Candidate kCandidates[] = {
    {"gpu.sm_active", "percent", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"gpu.tensor_active",
     "percent",
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"gpu.dram_bandwidth",
     "percent",
     {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"gpu.dram_read",
     "bytes/s",
     {"dram__read_bytes.sum.per_second", "dramc__read_bytes.sum.per_second"}},
    {"gpu.dram_written",
     "bytes/s",
     {"dram__write_bytes.sum.per_second", "dramc__write_bytes.sum.per_second"}},
    {"gpu.warps_active", "percent", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
    {"gpu.pcie_read_throughput", "bytes/s", {"pcie__read_bytes.sum.per_second"}},
    {"gpu.pcie_write_throughput", "bytes/s", {"pcie__write_bytes.sum.per_second"}},
};

/// Below it a sample costs more than it tells; above it phases are missed.
constexpr std::int64_t kShortest = 10'000;
constexpr std::int64_t kLongest = 100'000'000;
/// Twice what comes between two looks, so that a late look loses nothing.
constexpr std::size_t kRoom = 2;

/// These count cycles of their system clock instead of time.
bool samples_by_cycles(std::string_view chip) { return chip.starts_with("TU") || chip == "GA100"; }

/// Chips that PM sampling is for: Turing and later.
bool can_sample(std::string_view chip) {
  for (const std::string_view family : {"GV", "GP", "GM", "GK"})
    if (chip.starts_with(family)) return false;
  return !chip.empty();
}

std::string metric_of(const PmChip& chip, const Candidate& candidate) {
  for (const std::string_view metric : candidate.metrics)
    if (!metric.empty() && chip.has(std::string(metric))) return std::string(metric);
  return {};
}

}  // namespace

PmPlan plan_pm(const PmChip& chip, const PmWish& wish) {
  PmPlan plan;
  if (!can_sample(chip.name)) {
    plan.left_out.push_back("all: " + (chip.name.empty() ? "an unknown chip" : chip.name) +
                            " has no PM sampling (Turing and later have)");
    return plan;
  }
  std::vector<std::string> metrics;
  for (const Candidate& candidate : kCandidates) {
    const std::string metric = metric_of(chip, candidate);
    if (metric.empty()) {
      plan.left_out.push_back(std::string(candidate.track) + ": the chip has no such metric");
      continue;
    }
    metrics.push_back(metric);
    if (chip.passes(metrics) != 1) {
      metrics.pop_back();
      plan.left_out.push_back(std::string(candidate.track) +
                              ": does not fit into the one pass beside the others");
      continue;
    }
    plan.tracks.push_back(
        {std::string(candidate.track), std::string(candidate.unit), std::move(metrics.back())});
    metrics.back() = plan.tracks.back().metric;
  }
  if (plan.tracks.empty()) return plan;
  plan.by_cycles = samples_by_cycles(chip.name);
  plan.interval_ns = std::clamp(wish.interval_ns, kShortest, kLongest);
  plan.samples =
      kRoom * static_cast<std::size_t>(std::max<std::int64_t>(1, wish.look_ns / plan.interval_ns));
  return plan;
}

}  // namespace fathom::cuda
