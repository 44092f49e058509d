// Describes and compares what calls took.
#include "measure/function_metrics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stats/median_ratio.h"
#include "stats/summary.h"

namespace fathom::measure {
namespace {

using Value = std::optional<double> (*)(const FunctionSample&);

struct Kind {
  std::string_view id;
  std::string_view title;
  std::string_view definition;
  Unit unit = Unit::ns;
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

constexpr std::array kItemKinds = {
    Kind{"first_item", "latency of the first item", "from the call until its first item", Unit::ns,
         first_item},
    Kind{"item_time", "time per item after the first",
         "from the first item to the end, by the number of the others", Unit::ns, item_time},
    Kind{"inter_item", "time between items", "the median of the times between items of a call",
         Unit::ns, inter_item},
    Kind{"throughput", "items per second", "items by the time from the call to the end",
         Unit::per_second, throughput},
};

Kind headline_of(std::string_view mode, bool items) {
  if (mode == "events")
    return {"events", "time per call between CUDA events", "", Unit::ns, per_call};
  if (mode == "device")
    return {"device", "time per call on devices", "the sum of its kernels, copies and fills",
            Unit::ns, per_call};
  return {"wall", "wall time per call", items ? "from the call until the generator ended" : "",
          Unit::ns, per_call};
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

std::optional<MeasuredMetric> metric_of(const FunctionResult& result, const Kind& kind) {
  const std::vector<double> now = values_of(result.outcome, Side::now, kind.value);
  const std::vector<double> base =
      result.paired() ? values_of(result.outcome, Side::base, kind.value) : std::vector<double>();
  if (now.empty() || base.size() != (result.paired() ? now.size() : 0)) return std::nullopt;
  MeasuredMetric metric;
  metric.id = kind.id;
  metric.title = kind.title;
  metric.definition = kind.definition;
  metric.unit = kind.unit;
  metric.more_is_better = kind.unit == Unit::per_second;
  metric.now = measured_side(now);
  if (result.paired()) {
    metric.base = measured_side(base);
    metric.claim = claim_about(metric.more_is_better, base, now, result.options.plan.resolution);
  }
  return metric;
}

/// Times at other clocks say nothing about functions, unless cycles say the same.
void look_at_clocks(const FunctionResult& result, const Kind& kind, MeasuredMetric& metric) {
  const bool more = metric.more_is_better;
  const std::vector<double> base =
      costs_of(values_of(result.outcome, Side::base, kind.value), more);
  const std::vector<double> now = costs_of(values_of(result.outcome, Side::now, kind.value), more);
  const std::vector<ClockReading> base_clocks = clocks_of(result.outcome, Side::base);
  const std::vector<ClockReading> now_clocks = clocks_of(result.outcome, Side::now);
  const std::string differs =
      clocks_forbid(metric.claim, {.values = base, .clocks = base_clocks},
                    {.values = now, .clocks = now_clocks}, result.options.plan.resolution);
  if (differs.empty()) return;
  metric.clocks_differ = true;
  metric.claim.verdict = Verdict::cannot_tell;
  metric.claim.reason = "clocks differ: " + differs;
}

void add_headline(FunctionResult& result) {
  const Kind kind = headline_of(result.outcome.mode, result.options.items);
  std::optional<MeasuredMetric> headline = metric_of(result, kind);
  if (!headline) return;
  if (result.paired()) look_at_clocks(result, kind, *headline);
  result.metrics.push_back(std::move(*headline));
}

void add_item_metrics(FunctionResult& result) {
  std::vector<Claim> claims;
  const std::size_t first = result.metrics.size();
  for (const Kind& kind : kItemKinds) {
    std::optional<MeasuredMetric> metric = metric_of(result, kind);
    if (!metric) continue;
    if (result.paired()) look_at_clocks(result, kind, *metric);
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

FunctionResult joined(FunctionResult first, FunctionResult later) {
  FunctionOutcome outcome = std::move(first.outcome);
  FunctionOutcome& more = later.outcome;
  const std::size_t pairs = outcome.sampled.now.size();
  for (FunctionSample& sample : more.samples) {
    sample.pair += pairs;
    sample.begin_ns += to_ns(outcome.elapsed);
    outcome.samples.push_back(std::move(sample));
  }
  const auto append = [](std::vector<double>& all, const std::vector<double>& values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  append(outcome.sampled.base, more.sampled.base);
  append(outcome.sampled.now, more.sampled.now);
  outcome.sampled.stopped = more.sampled.stopped;
  outcome.elapsed += more.elapsed;
  outcome.failed = more.failed;
  outcome.timer_error = std::move(more.timer_error);
  FunctionResult result = function_result(std::move(first.options), std::move(outcome));
  result.interrupted = later.interrupted;
  result.l2 = std::move(first.l2);
  result.launches = std::move(first.launches);
  result.device = std::move(first.device);
  result.facts = std::move(first.facts);
  result.notes = std::move(first.notes);
  return result;
}

std::string clocks_forbid_standing(const FunctionCosts& best, const FunctionCosts& here,
                                   Standing standing, double resolution) {
  if (standing != Standing::within && standing != Standing::worse) return {};
  const std::vector<ClockReading> best_clocks = clocks_of(best.result->outcome, Side::now);
  const std::vector<ClockReading> here_clocks = clocks_of(here.result->outcome, Side::now);
  std::string differs = clocks_differ(describe_clocks(best_clocks), describe_clocks(here_clocks),
                                      {.base = "the best", .now = "this value"});
  if (differs.empty()) return {};
  // Values were measured one after the other.
  const std::optional<MedianRatio> cycles =
      median_ratio(cycles_of({.values = best.costs, .clocks = best_clocks}),
                   cycles_of({.values = here.costs, .clocks = here_clocks}));
  const bool agree =
      cycles && cycles->interval && standing_of(*cycles->interval, resolution) == standing;
  return agree ? std::string() : differs;
}

}  // namespace fathom::measure
