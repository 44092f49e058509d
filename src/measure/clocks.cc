// Puts the clocks of each GPU beside the times of the pairs.
#include "measure/clocks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/quantity_text.h"
#include "measure/clock_rule.h"

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

bool is_counted(const BenchOutcome& outcome, const BenchRun& run, Side side) {
  return run.side == side && !run.warmup && run.pair < outcome.sampled.now.size();
}

std::vector<ClockReading> clocks_of(const BenchOutcome& outcome, Side side, std::int32_t gpu) {
  std::vector<ClockReading> readings;
  for (const BenchRun& run : outcome.runs) {
    if (is_counted(outcome, run, side)) readings.push_back(reading_of(run, gpu));
  }
  return readings;
}

std::set<std::int32_t> gpus_of(const BenchOutcome& outcome, Side side) {
  std::set<std::int32_t> gpus;
  for (const BenchRun& run : outcome.runs) {
    if (!is_counted(outcome, run, side) || !run.devices) continue;
    for (const GpuPace& pace : run.devices->paces) gpus.insert(pace.gpu);
  }
  return gpus;
}

}  // namespace

std::string clocks_text(const BenchOutcome& outcome, Side side) {
  std::string text;
  for (const std::int32_t gpu : gpus_of(outcome, side)) {
    const ClockSummary clocks = describe_clocks(clocks_of(outcome, side, gpu));
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

std::string clocks_forbid(const BenchOutcome& outcome, const Claim& claim,
                          const std::vector<double>& base, const std::vector<double>& now,
                          double resolution) {
  const std::set<std::int32_t> of_new = gpus_of(outcome, Side::now);
  for (const std::int32_t gpu : gpus_of(outcome, Side::base)) {
    if (!of_new.contains(gpu)) continue;
    const std::vector<ClockReading> base_clocks = clocks_of(outcome, Side::base, gpu);
    const std::vector<ClockReading> now_clocks = clocks_of(outcome, Side::now, gpu);
    const std::string why = clocks_forbid(claim, {.values = base, .clocks = base_clocks},
                                          {.values = now, .clocks = now_clocks}, resolution);
    if (!why.empty()) return "clocks differ: GPU " + std::to_string(gpu) + ": " + why;
  }
  return {};
}

}  // namespace fathom::measure
