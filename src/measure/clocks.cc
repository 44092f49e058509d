// Puts the clocks of each GPU beside the times of the pairs.
#include "measure/clocks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/quantity_text.h"

namespace fathom::measure {
namespace {

ClockReading reading_of(const BenchRun& run, std::int32_t gpu) {
  if (!run.devices) return {};
  const auto pace = std::ranges::find(run.devices->paces, gpu, &GpuPace::gpu);
  if (pace == run.devices->paces.end()) return {};
  ClockReading reading{.sm_mhz = pace->sm_mhz, .reasons = ClockShares{}};
  for (const auto& [id, share] : pace->throttled) {
    if (const auto bit = reason_bit(id)) (*reading.reasons)[*bit] = share;
  }
  return reading;
}

using Runs = std::vector<const BenchRun*>;

std::vector<ClockReading> readings_of(const Runs& runs, std::int32_t gpu) {
  std::vector<ClockReading> readings;
  readings.reserve(runs.size());
  for (const BenchRun* const run : runs) readings.push_back(reading_of(*run, gpu));
  return readings;
}

std::set<std::int32_t> gpus_of(const Runs& runs) {
  std::set<std::int32_t> gpus;
  for (const BenchRun* const run : runs) {
    if (!run->devices) continue;
    for (const GpuPace& pace : run->devices->paces) gpus.insert(pace.gpu);
  }
  return gpus;
}

Runs counted(std::span<const BenchRun> runs, Side side, std::size_t complete) {
  Runs found;
  for (const BenchRun& run : runs) {
    if (run.side == side && !run.warmup && run.pair < complete) found.push_back(&run);
  }
  return found;
}

}  // namespace

CostlyRuns costly_runs(std::span<const BenchRun> runs, Side side, std::vector<double> costs) {
  CostlyRuns found{.runs = counted(runs, side, costs.size()), .costs = {}};
  found.costs = std::move(costs);
  return found;
}

std::string clocks_text(const BenchOutcome& outcome, Side side) {
  const Runs runs = counted(outcome.runs, side, outcome.sampled.now.size());
  std::string text;
  for (const std::int32_t gpu : gpus_of(runs)) {
    const ClockSummary clocks = describe_clocks(readings_of(runs, gpu));
    std::string of_gpu;
    if (clocks.median_mhz) of_gpu = count_text(std::llround(*clocks.median_mhz)) + " MHz";
    for (const ReasonShare& reason : clocks.reasons) {
      of_gpu += (of_gpu.empty() ? "" : ", ") + std::string(reason.name) + " " +
                percent_text(100 * reason.share);
    }
    if (of_gpu.empty()) continue;
    text += (text.empty() ? "GPU " : "; GPU ") + std::to_string(gpu) + ": " + of_gpu;
  }
  return text;
}

std::string clocks_forbid(const CostlyRuns& base, const CostlyRuns& now, const CyclesAgree& agree,
                          const ClockNames& names) {
  const std::set<std::int32_t> of_new = gpus_of(now.runs);
  for (const std::int32_t gpu : gpus_of(base.runs)) {
    if (!of_new.contains(gpu)) continue;
    const std::vector<ClockReading> base_clocks = readings_of(base.runs, gpu);
    const std::vector<ClockReading> now_clocks = readings_of(now.runs, gpu);
    const std::string why =
        clocks_differ(describe_clocks(base_clocks), describe_clocks(now_clocks), names);
    if (why.empty() || agree(cycles_of({.values = base.costs, .clocks = base_clocks}),
                             cycles_of({.values = now.costs, .clocks = now_clocks})))
      continue;
    return "clocks differ: GPU " + std::to_string(gpu) + ": " + why;
  }
  return {};
}

std::string clocks_forbid(const Claim& claim, const CostlyRuns& base, const CostlyRuns& now,
                          double resolution) {
  if (claim.verdict == Verdict::cannot_tell) return {};
  return clocks_forbid(
      base, now,
      [&](const std::vector<double>& base_cycles, const std::vector<double>& now_cycles) {
        return claim_of(base_cycles, now_cycles, resolution).verdict == claim.verdict;
      });
}

}  // namespace fathom::measure
