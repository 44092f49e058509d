// Describes and compares what calls took.
#include "measure/function_metrics.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "stats/summary.h"

namespace fathom::measure {
namespace {

/// PELT takes a time that grows with the square where nothing changes.
constexpr std::size_t kMostForWarmUp = 2000;

using Value = std::optional<double> (*)(const FunctionSample&);

struct Kind {
  std::string_view id;
  std::string_view title;
  std::string_view unit = "ns";
  Value value = nullptr;
};

std::optional<double> per_call(const FunctionSample& sample) {
  return sample.ns / static_cast<double>(sample.calls);
}

std::vector<double> gaps_of(const FunctionSample& sample) {
  std::vector<double> gaps;
  if (!sample.items) return gaps;
  const std::vector<double>& at = sample.items->at;
  for (std::size_t i = 1; i < at.size(); ++i) gaps.push_back(at[i] - at[i - 1]);
  return gaps;
}

std::optional<double> first_item(const FunctionSample& sample) {
  if (!sample.items || sample.items->at.empty()) return std::nullopt;
  return sample.items->at.front();
}

/// Of the items after the first.
std::optional<double> item_time(const FunctionSample& sample) {
  if (!sample.items || sample.items->at.size() < 2) return std::nullopt;
  return (sample.items->end - sample.items->at.front()) /
         static_cast<double>(sample.items->at.size() - 1);
}

std::optional<double> inter_item(const FunctionSample& sample) {
  std::vector<double> gaps = gaps_of(sample);
  if (gaps.empty()) return std::nullopt;
  std::ranges::sort(gaps);
  return quantile(gaps, 0.5);
}

std::optional<double> throughput(const FunctionSample& sample) {
  if (!sample.items || sample.items->at.empty() || !(sample.items->end > 0)) return std::nullopt;
  return 1e9 * static_cast<double>(sample.items->at.size()) / sample.items->end;
}

constexpr std::string_view kPerSecond = "1/s";
constexpr std::array kItemKinds = {
    Kind{"first_item", "latency of the first item", "ns", first_item},
    Kind{"item_time", "time per item after the first", "ns", item_time},
    Kind{"inter_item", "time between items, median of a call", "ns", inter_item},
    Kind{"throughput", "throughput", kPerSecond, throughput},
};

Kind headline_of(std::string_view mode) {
  if (mode == "events") return {"events", "time per call between CUDA events", "ns", per_call};
  return {"wall", "wall time per call", "ns", per_call};
}

/// Of complete pairs of a side, in their order; empty where one has no value.
std::vector<double> values_of(const FunctionOutcome& outcome, Side side, Value value) {
  std::vector<double> values;
  for (const FunctionSample& sample : outcome.samples) {
    if (sample.side != side || sample.pair >= outcome.sampled.now.size()) continue;
    const std::optional<double> found = value(sample);
    if (!found) return {};
    values.push_back(*found);
  }
  return values;
}

std::vector<ClockReading> clocks_of(const FunctionOutcome& outcome, Side side) {
  std::vector<ClockReading> readings;
  for (const FunctionSample& sample : outcome.samples) {
    if (sample.side == side && sample.pair < outcome.sampled.now.size())
      readings.push_back(sample.clocks);
  }
  return readings;
}

std::optional<SampleSummary> all_gaps(const FunctionOutcome& outcome, Side side) {
  std::vector<double> gaps;
  for (const FunctionSample& sample : outcome.samples) {
    if (sample.side != side || sample.pair >= outcome.sampled.now.size()) continue;
    const std::vector<double> of_call = gaps_of(sample);
    gaps.insert(gaps.end(), of_call.begin(), of_call.end());
  }
  if (gaps.empty()) return std::nullopt;
  return describe(std::move(gaps));
}

/// Means of `group` neighbours each.
std::vector<double> thinned(const std::vector<double>& values, std::size_t group) {
  std::vector<double> means;
  for (std::size_t at = 0; at + group <= values.size(); at += group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(group), 0.0) /
                    static_cast<double>(group));
  }
  return means;
}

std::optional<WarmUp> warm_up_of(const std::vector<double>& values) {
  const std::size_t group = (values.size() + kMostForWarmUp - 1) / kMostForWarmUp;
  if (group <= 1) return find_warm_up(values);
  std::optional<WarmUp> found = find_warm_up(thinned(values, group));
  if (found) found->after *= group;
  return found;
}

FunctionSide side_of(const std::vector<double>& values) {
  return {.summary = describe(values),
          .warm_up = warm_up_of(values),
          .autocorrelation = autocorrelation(values)};
}

/// More items a second are faster.
Claim claim_about(const Kind& kind, const std::vector<double>& base, const std::vector<double>& now,
                  double resolution) {
  Claim claim = claim_of(base, now, resolution);
  if (kind.unit != kPerSecond) return claim;
  if (claim.verdict == Verdict::faster) {
    claim.verdict = Verdict::slower;
  } else if (claim.verdict == Verdict::slower) {
    claim.verdict = Verdict::faster;
  }
  return claim;
}

std::optional<FunctionMetric> metric_of(const FunctionResult& result, const Kind& kind) {
  const std::vector<double> now = values_of(result.outcome, Side::now, kind.value);
  const std::vector<double> base =
      result.paired() ? values_of(result.outcome, Side::base, kind.value) : std::vector<double>();
  if (now.empty() || base.size() != (result.paired() ? now.size() : 0)) return std::nullopt;
  FunctionMetric metric;
  metric.id = kind.id;
  metric.title = kind.title;
  metric.unit = kind.unit;
  metric.now = side_of(now);
  if (result.paired()) {
    metric.base = side_of(base);
    metric.claim = claim_about(kind, base, now, result.options.plan.resolution);
  }
  return metric;
}

void add_headline(FunctionResult& result) {
  std::optional<FunctionMetric> headline = metric_of(result, headline_of(result.outcome.mode));
  if (!headline) return;
  if (result.paired()) {
    const Sampled& sampled = result.outcome.sampled;
    headline->claim =
        hold_against_clocks(std::move(headline->claim), sampled.base, sampled.now,
                            clocks_of(result.outcome, Side::base),
                            clocks_of(result.outcome, Side::now), result.options.plan.resolution);
  }
  result.metrics.push_back(std::move(*headline));
}

void add_item_metrics(FunctionResult& result) {
  std::vector<Claim> claims;
  const std::size_t first = result.metrics.size();
  for (const Kind& kind : kItemKinds) {
    std::optional<FunctionMetric> metric = metric_of(result, kind);
    if (!metric) continue;
    claims.push_back(metric->claim);
    result.metrics.push_back(std::move(*metric));
  }
  if (!result.paired()) return;
  judge_together(claims);
  for (std::size_t i = 0; i < claims.size(); ++i)
    result.metrics[first + i].claim = std::move(claims[i]);
}

}  // namespace

FunctionResult function_result(FunctionOptions options, FunctionOutcome outcome) {
  FunctionResult result;
  result.options = std::move(options);
  result.outcome = std::move(outcome);
  add_headline(result);
  if (result.metrics.empty()) return result;
  result.now_clocks = describe_clocks(clocks_of(result.outcome, Side::now));
  if (result.paired()) result.base_clocks = describe_clocks(clocks_of(result.outcome, Side::base));
  if (!result.options.items) return result;
  add_item_metrics(result);
  result.now_gaps = all_gaps(result.outcome, Side::now);
  if (result.paired()) result.base_gaps = all_gaps(result.outcome, Side::base);
  return result;
}

}  // namespace fathom::measure
