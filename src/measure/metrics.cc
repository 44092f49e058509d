// Describes and compares what runs took.
#include "measure/metrics.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "measure/clocks.h"

namespace fathom::measure {
namespace {

/// What decides first, then the others.
std::vector<const Metric*> in_order(std::string_view headline) {
  std::vector<const Metric*> order = {metric_named(headline)};
  for (const Metric& metric : all_metrics()) {
    if (metric.id != headline) order.push_back(&metric);
  }
  return order;
}

MeasuredMetric row_of(const Metric& metric) {
  MeasuredMetric row;
  row.id = metric.id;
  row.title = metric.title;
  row.definition = metric.definition;
  row.unit = metric.unit;
  row.more_is_better = metric.more_is_better;
  return row;
}

bool is_same(const SessionPhase& one, const SessionPhase& other) {
  return one.name == other.name && one.of_step == other.of_step;
}

using Value = std::function<std::optional<double>(const BenchRun&)>;

Value value_of(const SessionPhase& phase) {
  return [phase](const BenchRun& run) -> std::optional<double> {
    for (const SessionPhase& each : run.phases) {
      if (is_same(each, phase)) return each.ns;
    }
    return std::nullopt;
  };
}

MeasuredMetric row_of(const SessionPhase& phase) {
  MeasuredMetric row;
  row.id = "phase." + phase.name;
  row.title = phase.name + (phase.of_step ? " per step" : " in the run");
  return row;
}

/// Of all runs that count, the longest first and so many.
std::vector<SessionPhase> phases_in(const BenchOutcome& outcome) {
  constexpr std::size_t kMost = 8;
  std::vector<SessionPhase> found;
  for (const BenchRun& run : outcome.runs) {
    if (run.warmup) continue;
    for (const SessionPhase& phase : run.phases) {
      const auto same = std::ranges::find_if(
          found, [&phase](const SessionPhase& each) { return is_same(each, phase); });
      if (same == found.end()) {
        found.push_back(phase);
      } else {
        same->ns += phase.ns;
      }
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &SessionPhase::ns);
  found.resize(std::min(found.size(), kMost));
  return found;
}

/// Times of GPUs whose clocks differ say nothing about programs, unless cycles say the same.
void look_at_clocks(const BenchOutcome& outcome, const std::vector<double>& base,
                    const std::vector<double>& now, double resolution, MeasuredMetric& row) {
  if (!is_speed(row.unit) || row.claim.verdict == Verdict::cannot_tell) return;
  const bool more = row.more_is_better;
  const std::string apart =
      clocks_forbid(row.claim, costly_runs(outcome.runs, Side::base, costs_of(base, more)),
                    costly_runs(outcome.runs, Side::now, costs_of(now, more)), resolution);
  if (apart.empty()) return;
  row.clocks_differ = true;
  row.claim.verdict = Verdict::cannot_tell;
  row.claim.reason = apart;
}

}  // namespace

Claim claim_about(const Metric& metric, std::span<const double> base, std::span<const double> now,
                  double resolution) {
  return claim_about(metric.more_is_better, base, now, resolution);
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
    return "has no steps with a known number of samples (from its loader or "
           "fathom.step(samples=…))";
  if (metric.id == kMfuMetric) return "has no steps, or --model names no recording of the model";
  if (metric.id == "epoch") return "marks no epoch, as `with fathom.annotate(\"epoch\"):` does";
  if (metric.id == "loader_wait")
    return "waited for no data loader that Fathom sees (of PyTorch) in its steps";
  if (metric.of_steps) return "had no steps that Fathom sees";
  return "has no " + std::string(metric.title) + " of its own";
}

std::vector<MeasuredMetric> metrics_of(const BenchOutcome& outcome, bool paired,
                                       double resolution) {
  std::vector<MeasuredMetric> rows;
  if (outcome.headline.empty()) return rows;
  const auto add = [&](MeasuredMetric row, const Value& value) {
    const std::vector<double> now = values_of(outcome, Side::now, value);
    const std::vector<double> base =
        paired ? values_of(outcome, Side::base, value) : std::vector<double>();
    if (now.empty() || base.size() != (paired ? now.size() : 0)) return;
    row.now = measured_side(now);
    if (paired) {
      row.base = measured_side(base);
      row.claim = claim_about(row.more_is_better, base, now, resolution);
      look_at_clocks(outcome, base, now, resolution, row);
    }
    rows.push_back(std::move(row));
  };
  for (const Metric* const metric : in_order(outcome.headline)) add(row_of(*metric), metric->value);
  for (const SessionPhase& phase : phases_in(outcome)) add(row_of(phase), value_of(phase));
  std::vector<Claim> beside;
  for (std::size_t i = 1; paired && i < rows.size(); ++i) beside.push_back(rows[i].claim);
  judge_together(beside);
  for (std::size_t i = 0; i < beside.size(); ++i) rows[i + 1].claim = std::move(beside[i]);
  return rows;
}

}  // namespace fathom::measure
