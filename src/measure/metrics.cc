// Describes and compares what runs took.
#include "measure/metrics.h"

#include <array>

namespace fathom::measure {
namespace {

struct Metric {
  std::string_view id;
  std::string_view title;
  Unit unit;
  std::optional<double> (*value)(const ChildRun&);
};

constexpr std::array kMetrics = {
    Metric{"wall", "wall time", Unit::ns,
           [](const ChildRun& run) {
             return std::optional<double>(static_cast<double>(run.wall_ns));
           }},
    Metric{"user", "user time", Unit::ns,
           [](const ChildRun& run) {
             return std::optional<double>(static_cast<double>(run.user_ns));
           }},
    Metric{"system", "system time", Unit::ns,
           [](const ChildRun& run) {
             return std::optional<double>(static_cast<double>(run.system_ns));
           }},
    Metric{"peak_memory", "peak memory", Unit::bytes,
           [](const ChildRun& run) {
             return run.peak_bytes ? std::optional<double>(static_cast<double>(*run.peak_bytes))
                                   : std::nullopt;
           }},
};

MeasuredSide side_of(const std::vector<double>& values) {
  return {.summary = describe(values),
          .warm_up = find_warm_up(values),
          .autocorrelation = autocorrelation(values)};
}

}  // namespace

std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired,
                                       double resolution) {
  std::vector<MeasuredMetric> rows;
  std::vector<Claim> beside;
  for (const Metric& metric : kMetrics) {
    const std::vector<double> now = values_of(outcome, Side::now, metric.value);
    const std::vector<double> base =
        paired ? values_of(outcome, Side::base, metric.value) : std::vector<double>();
    if (now.empty() || base.size() != (paired ? now.size() : 0)) continue;
    MeasuredMetric row;
    row.id = metric.id;
    row.title = metric.title;
    row.unit = metric.unit;
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
