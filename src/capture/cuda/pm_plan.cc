// Chooses the metrics to sample on a chip.
#include "capture/cuda/pm_plan.h"

#include <algorithm>
#include <array>

namespace fathom::cuda {
namespace {

struct Candidate {
  std::string_view track;
  std::string_view unit;
  std::array<std::string_view, 3> metrics;
};

// The most telling first. Throughputs are of what the chip can sustain. Names as CUPTI 12.9 has
// them for the chips from TU102 to GB20B.
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
     {"dram__bytes_read.sum.per_second", "fbpa__dram_read_bytes.sum.per_second"}},
    {"gpu.dram_written",
     "bytes/s",
     {"dram__bytes_write.sum.per_second", "fbpa__dram_write_bytes.sum.per_second"}},
    {"gpu.warps_active", "percent", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
    {"gpu.pcie_read_throughput", "bytes/s", {"pcie__read_bytes.sum.per_second"}},
    {"gpu.pcie_write_throughput", "bytes/s", {"pcie__write_bytes.sum.per_second"}},
};

/// Below it a sample costs more than it shows; above it phases are missed.
constexpr std::int64_t kShortest = 10'000;
constexpr std::int64_t kLongest = 100'000'000;
/// Twice what comes between two looks, so that a late look loses nothing; more are taken out in
/// several goes.
constexpr std::size_t kRoom = 2;
constexpr std::size_t kMostSamples = 1000;
/// Of the system clock, to turn an interval into cycles: it varies, and need not be met exactly.
constexpr std::int64_t kCyclesPerMicrosecond = 1'000;
constexpr std::int64_t kNsPerMicrosecond = 1'000;

/// These count cycles of their system clock instead of time.
bool samples_by_cycles(std::string_view chip) { return chip.starts_with("TU") || chip == "GA100"; }

/// Chips that PM sampling is for: Turing and later.
bool can_sample(std::string_view chip) {
  for (const std::string_view family : {"GV", "GP", "GM", "GK"})
    if (chip.starts_with(family)) return false;
  return !chip.empty();
}

enum class Fit { absent, too_much, fits };

/// Adds the first of the names that the chip has and that fits into the pass beside the others.
Fit add_metric(const PmChip& chip, const Candidate& candidate, std::vector<std::string>& metrics) {
  Fit fit = Fit::absent;
  for (const std::string_view metric : candidate.metrics) {
    if (metric.empty() || !chip.has(std::string(metric))) continue;
    metrics.emplace_back(metric);
    if (chip.passes(metrics) == 1) return Fit::fits;
    metrics.pop_back();
    fit = Fit::too_much;
  }
  return fit;
}

void leave_out(std::string_view track, std::string_view why, PmPlan& plan, bool failed = false) {
  plan.left_out.push_back({std::string(track), std::string(why), failed});
}

}  // namespace

std::string pm_tracks() {
  std::string names;
  for (const Candidate& candidate : kCandidates)
    names += (names.empty() ? "" : ", ") + std::string(candidate.track);
  return names;
}

PmPlan plan_pm(const PmChip& chip, const PmRates& rates) {
  PmPlan plan;
  if (!can_sample(chip.name)) {
    const std::string why = (chip.name.empty() ? "an unknown chip" : chip.name) +
                            " has no PM sampling (Turing and later have)";
    for (const Candidate& candidate : kCandidates) leave_out(candidate.track, why, plan);
    return plan;
  }
  std::vector<std::string> metrics;
  for (const Candidate& candidate : kCandidates) {
    const Fit fit = add_metric(chip, candidate, metrics);
    // Of this track's questions alone.
    const std::string failed = chip.failed ? chip.failed() : std::string();
    if (fit == Fit::fits) {
      plan.tracks.push_back(
          {std::string(candidate.track), std::string(candidate.unit), metrics.back()});
    } else if (!failed.empty()) {
      leave_out(candidate.track, failed, plan, true);
    } else if (fit == Fit::absent) {
      leave_out(candidate.track, chip.name + " has no such metric", plan);
    } else {
      leave_out(candidate.track, chip.name + " cannot count it at once with the others", plan);
    }
  }
  if (plan.tracks.empty()) return plan;
  plan.interval_ns = std::clamp(rates.interval_ns, kShortest, kLongest);
  if (samples_by_cycles(chip.name))
    plan.interval_cycles = plan.interval_ns * kCyclesPerMicrosecond / kNsPerMicrosecond;
  plan.samples = std::min(kMostSamples, kRoom * static_cast<std::size_t>(std::max<std::int64_t>(
                                                    1, rates.look_ns / plan.interval_ns)));
  return plan;
}

}  // namespace fathom::cuda
