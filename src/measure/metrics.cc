// Describes and compares what runs took.
#include "measure/metrics.h"

#include <algorithm>
#include <array>

#include "measure/clocks.h"

namespace fathom::measure {
namespace {

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

std::optional<double> gpu_memory_of(const BenchRun& run) {
  return run.devices ? run.devices->gpu_memory : std::nullopt;
}

constexpr std::array kMetrics = {
    Metric{.id = kStepMetric, .title = "step time", .of_steps = true, .value = step_of},
    Metric{.id = kThroughputMetric,
           .title = "samples per second",
           .unit = Unit::per_second,
           .of_steps = true,
           .more_is_better = true,
           .value = throughput_of},
    Metric{.id = "first_step", .title = "first step", .of_steps = true, .value = first_step_of},
    Metric{.id = "loader_wait",
           .title = "loader wait per step",
           .of_steps = true,
           .value = loader_wait_of},
    Metric{.id = "epoch", .title = "epoch", .of_steps = true, .value = epoch_of},
    Metric{.id = kWallMetric,
           .title = "wall time",
           .value = [](const BenchRun& run) { return plain(run.child.wall_ns); }},
    Metric{.id = "user",
           .title = "user time",
           .value = [](const BenchRun& run) { return plain(run.child.user_ns); }},
    Metric{.id = "system",
           .title = "system time",
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
};

/// What decides first, then the others.
std::vector<const Metric*> in_order(std::string_view headline) {
  std::vector<const Metric*> order = {metric_named(headline)};
  for (const Metric& metric : kMetrics) {
    if (metric.id != headline) order.push_back(&metric);
  }
  return order;
}

/// Times of GPUs whose clocks differ say nothing about programs, unless cycles say the same.
void look_at_clocks(const BenchOutcome& outcome, const std::vector<double>& base,
                    const std::vector<double>& now, double resolution, MeasuredMetric& row) {
  const bool time = row.unit == Unit::ns || row.unit == Unit::per_second;
  if (!time || row.claim.verdict == Verdict::cannot_tell) return;
  const std::string apart = clocks_apart(outcome);
  if (apart.empty()) return;
  const auto times = [&row](std::vector<double> values) {
    if (row.more_is_better) {
      for (double& value : values) value = 1 / value;
    }
    return values;
  };
  const Claim cycles = claim_of(cycles_of(outcome, Side::base, times(base)),
                                cycles_of(outcome, Side::now, times(now)), resolution);
  if (cycles.verdict == row.claim.verdict) return;
  row.clocks_differ = true;
  row.claim.verdict = Verdict::cannot_tell;
  row.claim.reason = "clocks differ: " + apart;
}

MeasuredSide side_of(const std::vector<double>& values) {
  return {.summary = describe(values),
          .warm_up = find_warm_up(values),
          .autocorrelation = autocorrelation(values)};
}

}  // namespace

std::string_view to_string(Unit unit) {
  static constexpr std::array<std::string_view, 4> kNames = {"ns", "bytes", "joules", "1/s"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::span<const Metric> all_metrics() { return kMetrics; }

Claim claim_about(const Metric& metric, std::span<const double> base, std::span<const double> now,
                  double resolution) {
  Claim claim = claim_of(base, now, resolution);
  if (!metric.more_is_better) return claim;
  if (claim.verdict == Verdict::faster) {
    claim.verdict = Verdict::slower;
  } else if (claim.verdict == Verdict::slower) {
    claim.verdict = Verdict::faster;
  }
  return claim;
}

std::string lacks_text(const Metric& metric, const RunTaker& taker) {
  if (metric.of_devices && taker.watching() != nullptr) {
    std::string text = "has no " + std::string(metric.title) + " that could be measured";
    for (const capture::NotRecorded& missing : taker.watching()->not_recorded()) {
      if (missing.what.find("energy") == std::string::npos &&
          missing.what.find("GPU") == std::string::npos)
        continue;
      text += "; " + missing.what + ": " + missing.why;
      if (!missing.remedy.empty()) text += " (" + missing.remedy + ")";
    }
    return text;
  }
  if (metric.id == kThroughputMetric)
    return "has no steps of which its loader or fathom.step(samples=…) says the samples";
  if (metric.id == "epoch") return "marks no epoch, as `with fathom.annotate(\"epoch\"):` does";
  if (metric.of_steps) return "had no steps that Fathom sees";
  return "has no " + std::string(metric.title) + " of its own";
}

const Metric* metric_named(std::string_view id) {
  const auto* const found = std::ranges::find(kMetrics, id, &Metric::id);
  return found == kMetrics.end() ? nullptr : found;
}

std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired,
                                       double resolution) {
  std::vector<MeasuredMetric> rows;
  std::vector<Claim> beside;
  if (outcome.headline.empty()) return rows;
  for (const Metric* const metric : in_order(outcome.headline)) {
    const std::vector<double> now = values_of(outcome, Side::now, metric->value);
    const std::vector<double> base =
        paired ? values_of(outcome, Side::base, metric->value) : std::vector<double>();
    if (now.empty() || base.size() != (paired ? now.size() : 0)) continue;
    MeasuredMetric row;
    row.id = metric->id;
    row.title = metric->title;
    row.unit = metric->unit;
    row.more_is_better = metric->more_is_better;
    row.now = side_of(now);
    if (paired) {
      row.base = side_of(base);
      row.claim = claim_about(*metric, base, now, resolution);
      look_at_clocks(outcome, base, now, resolution, row);
      if (!rows.empty()) beside.push_back(row.claim);
    }
    rows.push_back(std::move(row));
  }
  judge_together(beside);
  for (std::size_t i = 0; i < beside.size(); ++i) rows[i + 1].claim = std::move(beside[i]);
  return rows;
}

}  // namespace fathom::measure
