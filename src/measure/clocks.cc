// Compares SM clocks and reasons for lower ones.
#include "measure/clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/quantity_text.h"
#include "stats/sample.h"

namespace fathom::measure {
namespace {

constexpr double kClocksApart = 0.01;
constexpr double kSharesApart = 0.05;
constexpr double kSlowdown = 0.01;
constexpr std::array<std::string_view, 4> kSlowdowns = {"hw_slowdown", "hw_thermal", "sw_thermal",
                                                        "power_brake"};

/// One GPU in the runs of one side.
struct SidePace {
  std::vector<double> mhz;
  std::map<std::string, double> shares;  ///< Summed over the runs.
  [[nodiscard]] double share(const std::string& reason) const {
    const auto found = shares.find(reason);
    return found == shares.end() || mhz.empty() ? 0
                                                : found->second / static_cast<double>(mhz.size());
  }
};

std::map<std::int32_t, SidePace> paces_of(const BenchOutcome& outcome, Side side) {
  std::map<std::int32_t, SidePace> gpus;
  for (const BenchRun& run : outcome.runs) {
    if (run.side != side || run.warmup || run.pair >= outcome.sampled.now.size() || !run.devices)
      continue;
    for (const GpuPace& pace : run.devices->paces) {
      SidePace& sum = gpus[pace.gpu];
      sum.mhz.push_back(pace.sm_mhz);
      for (const auto& [reason, share] : pace.throttled) sum.shares[reason] += share;
    }
  }
  return gpus;
}

std::string percent(double share) { return percent_text(100 * share); }

std::string mhz(double clock) {
  return count_text(static_cast<std::int64_t>(std::llround(clock))) + " MHz";
}

std::string of_gpu(std::int32_t gpu, const SidePace& base, const SidePace& now) {
  const double before = describe(base.mhz).median;
  const double after = describe(now.mhz).median;
  const std::string name = "GPU " + std::to_string(gpu) + ": ";
  if (before > 0 && std::abs(after / before - 1) > kClocksApart)
    return name + "SM clock " + mhz(before) + " in the base, " + mhz(after) + " in the new";
  std::set<std::string> reasons;
  for (const SidePace* const side : {&base, &now}) {
    for (const auto& [reason, share] : side->shares) reasons.insert(reason);
  }
  for (const std::string& reason : reasons) {
    const double one = base.share(reason);
    const double other = now.share(reason);
    const bool slowdown = std::ranges::find(kSlowdowns, reason) != kSlowdowns.end();
    if (std::abs(one - other) > kSharesApart || (slowdown && std::max(one, other) > kSlowdown)) {
      std::string text = name;
      text.append("clock lowered (").append(reason).append(") for ").append(percent(one));
      return text.append(" of the base, ").append(percent(other)).append(" of the new");
    }
  }
  return {};
}

}  // namespace

std::string clocks_apart(const BenchOutcome& outcome) {
  const std::map<std::int32_t, SidePace> base = paces_of(outcome, Side::base);
  const std::map<std::int32_t, SidePace> now = paces_of(outcome, Side::now);
  for (const auto& [gpu, pace] : base) {
    const auto other = now.find(gpu);
    if (other == now.end()) continue;
    if (std::string text = of_gpu(gpu, pace, other->second); !text.empty()) return text;
  }
  return {};
}

std::vector<double> cycles_of(const BenchOutcome& outcome, Side side,
                              const std::vector<double>& values) {
  std::vector<double> clocks = values_of(outcome, side, [](const BenchRun& run) {
    return run.devices && !run.devices->paces.empty()
               ? std::optional(run.devices->paces.front().sm_mhz)
               : std::nullopt;
  });
  if (clocks.size() != values.size()) return {};
  for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] *= values[i];
  return clocks;
}

}  // namespace fathom::measure
