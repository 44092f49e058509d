// Reads each metric from a run.
#include "measure/metric.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace fathom::measure {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr std::string_view kByTicks = "by ticks of the kernel's clock";

std::optional<double> plain(std::int64_t value) { return static_cast<double>(value); }

/// Of those after the first, which makes ready; of a single one, that one. An even number has the
/// mean of the two in the middle.
double median_after_first(std::vector<std::int64_t> ns) {
  if (ns.size() > 1) ns.erase(ns.begin());
  std::ranges::sort(ns);
  const std::size_t middle = ns.size() / 2;
  const auto upper = static_cast<double>(ns[middle]);
  return ns.size() % 2 == 1 ? upper : (static_cast<double>(ns[middle - 1]) + upper) / 2;
}

std::optional<double> step_of(const BenchRun& run) {
  return run.steps ? std::optional(median_after_first(run.steps->ns)) : std::nullopt;
}

/// Model FLOPs utilisation: of the device's peak, in percent.
std::optional<double> mfu_of(const BenchRun& run) {
  const std::optional<double> step = step_of(run);
  if (!step || !run.given.ideal_step_ns || !(*step > 0)) return std::nullopt;
  return 100 * *run.given.ideal_step_ns / *step;
}

/// Of the steps after the first; of a single one, that one.
std::optional<double> step_mean_of(const BenchRun& run) {
  if (!run.steps) return std::nullopt;
  const std::vector<std::int64_t>& ns = run.steps->ns;
  const std::size_t first = ns.size() > 1 ? 1 : 0;
  double sum = 0;
  for (std::size_t i = first; i < ns.size(); ++i) sum += static_cast<double>(ns[i]);
  return sum / static_cast<double>(ns.size() - first);
}

/// Of all steps, the first too: what a caller waits for.
std::optional<double> step_rate_of(const BenchRun& run) {
  if (!run.steps) return std::nullopt;
  double sum = 0;
  for (const std::int64_t ns : run.steps->ns) sum += static_cast<double>(ns);
  if (!(sum > 0)) return std::nullopt;
  return 1e9 * static_cast<double>(run.steps->ns.size()) / sum;
}

std::optional<double> first_step_of(const BenchRun& run) {
  return run.steps ? plain(run.steps->ns.front()) : std::nullopt;
}

/// Of each step, on average.
std::optional<double> loader_wait_of(const BenchRun& run) {
  if (!run.steps || run.steps->waited_ns == 0) return std::nullopt;
  return static_cast<double>(run.steps->waited_ns) / static_cast<double>(run.steps->ns.size());
}

std::optional<double> peak_memory_of(const BenchRun& run) {
  return run.child.peak_bytes ? plain(*run.child.peak_bytes) : std::nullopt;
}

/// Of the steps after the first, all together; of a single step, that one.
std::optional<double> throughput_of(const BenchRun& run) {
  if (!run.steps || run.steps->samples.size() != run.steps->ns.size()) return std::nullopt;
  const std::size_t first = run.steps->ns.size() > 1 ? 1 : 0;
  double samples = 0;
  double ns = 0;
  for (std::size_t i = first; i < run.steps->ns.size(); ++i) {
    samples += run.steps->samples[i];
    ns += static_cast<double>(run.steps->ns[i]);
  }
  if (!(samples > 0) || !(ns > 0)) return std::nullopt;
  return 1e9 * samples / ns;
}

std::optional<double> epoch_of(const BenchRun& run) {
  if (run.epochs_ns.empty()) return std::nullopt;
  return median_after_first(run.epochs_ns);
}

std::optional<double> energy_of(const BenchRun& run) {
  return run.devices ? run.devices->joules : std::nullopt;
}

std::optional<double> step_energy_of(const BenchRun& run) {
  return run.devices && run.steps ? run.devices->joules_per_step : std::nullopt;
}

std::optional<double> epoch_energy_of(const BenchRun& run) {
  return run.devices ? run.devices->joules_per_epoch : std::nullopt;
}

std::optional<double> priced(const BenchRun& run, const std::optional<double>& joules) {
  if (!joules || !run.given.price_per_kwh) return std::nullopt;
  return *joules / kJoulesPerKwh * *run.given.price_per_kwh;
}

std::optional<double> gpu_memory_of(const BenchRun& run) {
  return run.devices ? run.devices->gpu_memory : std::nullopt;
}

constexpr std::array kMetrics = {
    Metric{.id = kStepMetric,
           .title = "step time",
           .of_steps = true,
           .definition = "the median of each run's steps after its first, timed without a profiler",
           .value = step_of},
    Metric{.id = kThroughputMetric,
           .title = "samples per second",
           .unit = Unit::per_second,
           .of_steps = true,
           .more_is_better = true,
           .value = throughput_of},
    Metric{.id = kMfuMetric,
           .title = "MFU",
           .unit = Unit::percent,
           .of_steps = true,
           .more_is_better = true,
           .value = mfu_of},
    Metric{.id = "first_step",
           .title = "first step",
           .of_steps = true,
           .definition = "from where it begins until it ends",
           .value = first_step_of},
    Metric{.id = "step_mean",
           .title = "time per step",
           .of_steps = true,
           .definition = "the time of the steps after the first, by their number",
           .value = step_mean_of},
    Metric{.id = "step_rate",
           .title = "steps per second",
           .unit = Unit::per_second,
           .of_steps = true,
           .more_is_better = true,
           .definition = "all steps by their time, the first too",
           .value = step_rate_of},
    Metric{.id = "loader_wait",
           .title = "loader wait per step",
           .of_steps = true,
           .value = loader_wait_of},
    Metric{.id = "epoch", .title = "epoch", .of_steps = true, .value = epoch_of},
    Metric{.id = kWallMetric,
           .title = "wall time",
           .value = [](const BenchRun& run) { return plain(run.child.wall_ns); }},
    Metric{.id = "cpu",
           .title = "processor time",
           .definition = "in user and in system mode together",
           .value =
               [](const BenchRun& run) { return plain(run.child.user_ns + run.child.system_ns); }},
    Metric{.id = "user",
           .title = "user time",
           .definition = kByTicks,
           .value = [](const BenchRun& run) { return plain(run.child.user_ns); }},
    Metric{.id = "system",
           .title = "system time",
           .definition = kByTicks,
           .value = [](const BenchRun& run) { return plain(run.child.system_ns); }},
    Metric{
        .id = "peak_memory", .title = "peak memory", .unit = Unit::bytes, .value = peak_memory_of},
    Metric{.id = "gpu_memory",
           .title = "GPU memory in use",
           .unit = Unit::bytes,
           .of_devices = true,
           .value = gpu_memory_of},
    Metric{.id = "energy",
           .title = "energy of the run",
           .unit = Unit::joules,
           .of_devices = true,
           .value = energy_of},
    Metric{.id = "step_energy",
           .title = "energy per step",
           .unit = Unit::joules,
           .of_steps = true,
           .of_devices = true,
           .value = step_energy_of},
    Metric{.id = "epoch_energy",
           .title = "energy per epoch",
           .unit = Unit::joules,
           .of_steps = true,
           .of_devices = true,
           .value = epoch_energy_of},
    Metric{.id = "cost",
           .title = "cost of the run's energy",
           .unit = Unit::money,
           .of_devices = true,
           .value = [](const BenchRun& run) { return priced(run, energy_of(run)); }},
    Metric{.id = "epoch_cost",
           .title = "cost of an epoch's energy",
           .unit = Unit::money,
           .of_steps = true,
           .of_devices = true,
           .value = [](const BenchRun& run) { return priced(run, epoch_energy_of(run)); }},
};

}  // namespace

std::span<const Metric> all_metrics() { return kMetrics; }

const Metric* metric_named(std::string_view id) {
  const auto* const found = std::ranges::find(kMetrics, id, &Metric::id);
  return found == kMetrics.end() ? nullptr : found;
}

}  // namespace fathom::measure
