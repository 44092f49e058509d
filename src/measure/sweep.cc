// Goes round the values, and finds the knee.
#include "measure/sweep.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <numeric>

#include "measure/metrics.h"
#include "stats/paired_ratio.h"
#include "stats/precision.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;

class Sweep {
 public:
  Sweep(const SweepOptions& options, const VariedReceivers& receivers)
      : options_(options),
        plan_(options.bench.plan),
        receivers_(receivers),
        bench_(options.bench, options.varied.name) {}

  Result<VariedOutcome> run() {
    VariedOutcome out;
    out.name = options_.varied.name;
    out.conditions = conditions_at_start();
    if (receivers_.warning) {
      for (const std::string& warning : warnings_about(out.conditions)) receivers_.warning(warning);
    }
    if (const Result<void> begun = bench_.begin(); !begun) return begun.error();
    for (const std::string& value : options_.varied.values) {
      const Result<std::size_t> place = bench_.add(value);
      if (!place) return place.error();
      all_.push_back(*place);
    }
    out.stopped = Stopped::asked;
    if (bench_.warm_up(all_) && bench_.decide()) out.stopped = rounds();
    if (bench_.error()) return *bench_.error();
    out.elapsed = elapsed();
    out.interrupted = bench_.interrupted();
    out.failure = bench_.failure();
    out.headline = bench_.headline_id();
    out.points = bench_.take_points();
    end_conditions(out.conditions);
    return out;
  }

 private:
  [[nodiscard]] Duration elapsed() const { return Steady::now() - began_; }

  Stopped rounds() {
    const Steady::time_point sampling = Steady::now();
    std::size_t done = 0;
    while (true) {
      if (!live()) return Stopped::undecidable;
      if (plan_.runs && done >= *plan_.runs) return Stopped::runs;
      if (done >= plan_.least) {
        if (plan_.until_precise && done >= kPilotPairs && precise()) return Stopped::precise;
        if (plan_.time && Steady::now() - sampling >= *plan_.time) return Stopped::time;
      }
      if (!bench_.round(all_)) return Stopped::asked;
      ++done;
      if (receivers_.progress)
        receivers_.progress({.runs = bench_.runs(),
                             .elapsed = elapsed(),
                             .left = left(done, Steady::now() - sampling)});
    }
  }

  [[nodiscard]] std::optional<Duration> left(std::size_t done, Duration since) const {
    const double each = static_cast<double>(to_ns(since)) / static_cast<double>(done);
    std::optional<Duration> end;
    if (plan_.runs)
      end = duration_ns(static_cast<std::int64_t>(each * static_cast<double>(*plan_.runs)));
    if (plan_.time && (!end || *plan_.time < *end)) end = *plan_.time;
    if (!end) return std::nullopt;
    return std::max(Duration{}, *end - since);
  }

  [[nodiscard]] bool live() const {
    return std::ranges::any_of(bench_.points(), [](const VariedPoint& point) {
      return point.state == PointState::measured;
    });
  }

  /// Could each value be told from the first? Blind to which is better.
  [[nodiscard]] bool precise() const {
    const VariedPoint* first = nullptr;
    for (const VariedPoint& point : bench_.points()) {
      if (point.state != PointState::measured) continue;
      const bool paired = !point.base.empty();
      if (first == nullptr) first = &point;
      if (!paired && first == &point) continue;
      const auto width = blind_half_width(paired ? point.base : first->now, point.now);
      if (width && *width > half_width_for(plan_.resolution)) return false;
    }
    return true;
  }

  const SweepOptions& options_;
  const SamplingPlan& plan_;
  const VariedReceivers& receivers_;
  VariedBench bench_;
  std::vector<std::size_t> all_;
  Steady::time_point began_ = Steady::now();
};

/// Places of points by their values: as numbers, or as they were given.
std::vector<std::size_t> ascending(const std::vector<VariedPoint>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<double> numbers;
  for (const VariedPoint& point : points) {
    double number = 0;
    const char* const end = point.value.data() + point.value.size();
    const auto [at, error] = std::from_chars(point.value.data(), end, number);
    if (error != std::errc() || at != end) return order;
    numbers.push_back(number);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t place) { return numbers[place]; });
  return order;
}

Standing standing_of(const PairedRatio& cost, double resolution) {
  if (cost.interval.high <= 1 + resolution) return Standing::within;
  return cost.interval.low > 1 + resolution ? Standing::worse : Standing::cannot_tell;
}

void find_knee(const VariedOutcome& outcome, const Metric& metric, double resolution,
               SweepVerdict& verdict) {
  for (const SweepRow& row : verdict.rows) {
    if (!row.now) continue;
    const double median = row.now->median;
    const double sign = metric.more_is_better ? -1 : 1;
    if (!verdict.best || sign * median < sign * verdict.rows[*verdict.best].now->median)
      verdict.best = row.point;
  }
  if (!verdict.best) return;
  const VariedPoint& best = outcome.points[*verdict.best];
  for (SweepRow& row : verdict.rows) {
    if (!row.now) continue;
    const std::optional<PairedRatio> ratio = paired_ratio(best.now, outcome.points[row.point].now);
    if (ratio) row.cost = cost_ratio(*ratio, metric);
    row.standing = row.point == *verdict.best ? Standing::best
                   : row.cost                 ? standing_of(*row.cost, resolution)
                                              : Standing::cannot_tell;
  }
  if (!verdict.rows[*verdict.best].cost) return;  // too few rounds
  for (const std::size_t place : ascending(outcome.points)) {
    const std::optional<Standing>& standing = verdict.rows[place].standing;
    if (standing == Standing::cannot_tell) verdict.perhaps.push_back(place);
    if (standing != Standing::best && standing != Standing::within) continue;
    verdict.knee = place;
    return;
  }
}

}  // namespace

std::string_view to_string(Standing standing) {
  static constexpr std::array<std::string_view, 4> kNames = {"best", "within", "worse",
                                                             "cannot_tell"};
  return kNames[static_cast<std::size_t>(standing)];
}

Result<VariedOutcome> run_sweep(const SweepOptions& options, const VariedReceivers& receivers) {
  return Sweep(options, receivers).run();
}

SweepVerdict judge_sweep(const VariedOutcome& outcome, bool paired, double resolution) {
  SweepVerdict verdict;
  std::vector<Claim> claims;
  const Metric* const metric = outcome.headline.empty() ? nullptr : metric_named(outcome.headline);
  for (std::size_t place = 0; place < outcome.points.size(); ++place) {
    const VariedPoint& point = outcome.points[place];
    SweepRow row{.point = place, .base = {}, .now = {}, .claim = {}, .standing = {}, .cost = {}};
    if (metric != nullptr && point.state == PointState::measured && !point.now.empty()) {
      row.now = describe(point.now);
      if (paired) {
        row.base = describe(point.base);
        row.claim = claim_about(*metric, point.base, point.now, resolution);
        claims.push_back(*row.claim);
      }
    }
    verdict.rows.push_back(std::move(row));
  }
  if (metric == nullptr) return verdict;
  if (!paired) {
    find_knee(outcome, *metric, resolution, verdict);
    return verdict;
  }
  judge_together(claims);
  std::size_t next = 0;
  for (SweepRow& row : verdict.rows) {
    if (row.claim) row.claim = claims[next++];
  }
  return verdict;
}

}  // namespace fathom::measure
