// Describes and compares what runs took.
#include "measure/metrics.h"

#include <algorithm>
#include <array>

namespace fathom::measure {
namespace {

std::optional<double> plain(std::int64_t value) { return static_cast<double>(value); }

/// The median of the steps after the first, which makes ready; of a single step, that one. An even
/// number has the mean of the two in the middle.
std::optional<double> step_of(const BenchRun& run) {
  if (!run.steps) return std::nullopt;
  std::vector<std::int64_t> ns = run.steps->ns;
  if (ns.size() > 1) ns.erase(ns.begin());
  std::ranges::sort(ns);
  const std::size_t middle = ns.size() / 2;
  const auto upper = static_cast<double>(ns[middle]);
  return ns.size() % 2 == 1 ? upper : (static_cast<double>(ns[middle - 1]) + upper) / 2;
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

constexpr std::array kMetrics = {
    Metric{kStepMetric, "step time", Unit::ns, true, step_of},
    Metric{"first_step", "first step", Unit::ns, true, first_step_of},
    Metric{"loader_wait", "loader wait per step", Unit::ns, true, loader_wait_of},
    Metric{kWallMetric, "wall time", Unit::ns, false,
           [](const BenchRun& run) { return plain(run.child.wall_ns); }},
    Metric{"user", "user time", Unit::ns, false,
           [](const BenchRun& run) { return plain(run.child.user_ns); }},
    Metric{"system", "system time", Unit::ns, false,
           [](const BenchRun& run) { return plain(run.child.system_ns); }},
    Metric{"peak_memory", "peak memory", Unit::bytes, false, peak_memory_of},
};

/// What decides first, then the others.
std::vector<const Metric*> in_order(std::string_view headline) {
  std::vector<const Metric*> order = {metric_named(headline)};
  for (const Metric& metric : kMetrics) {
    if (metric.id != headline) order.push_back(&metric);
  }
  return order;
}

MeasuredSide side_of(const std::vector<double>& values) {
  return {.summary = describe(values),
          .warm_up = find_warm_up(values),
          .autocorrelation = autocorrelation(values)};
}

}  // namespace

std::span<const Metric> all_metrics() { return kMetrics; }

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
    row.now = side_of(now);
    if (paired) {
      row.base = side_of(base);
      row.claim = claim_of(base, now, resolution);
      if (!rows.empty()) beside.push_back(row.claim);
    }
    rows.push_back(std::move(row));
  }
  judge_together(beside);
  for (std::size_t i = 0; i < beside.size(); ++i) rows[i + 1].claim = std::move(beside[i]);
  return rows;
}

}  // namespace fathom::measure
