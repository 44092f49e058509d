// Goes round the values, and finds the knee.
#include "measure/sweep.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>
#include <utility>

#include "measure/clocks.h"
#include "measure/gpu_conditions.h"
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
    out.conditions = conditions_with_gpus();
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
    if (bench_.warm_up(all_) && bench_.decide()) out.stopped = rounds(out);
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

  Stopped rounds(VariedOutcome& out) {
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
      if (plan_.until_precise) half_width_ = widest();
      const Duration since = Steady::now() - sampling;
      if (plan_.until_precise && done == kPilotPairs && half_width_) {
        out.announced = announcement(done, since);
        if (receivers_.announcement) receivers_.announcement(*out.announced);
      }
      if (receivers_.progress)
        receivers_.progress(
            {.runs = bench_.runs(), .elapsed = elapsed(), .left = left(done, since)});
    }
  }

  /// How long so many rounds take, at the pace of those that are done.
  static Duration time_of(std::size_t rounds, std::size_t done, Duration since) {
    const double each = static_cast<double>(to_ns(since)) / static_cast<double>(done);
    return duration_ns(
        static_cast<std::int64_t>(std::min(9e18, each * static_cast<double>(rounds))));
  }

  /// So many give the wanted precision, by `half_width`.
  [[nodiscard]] std::size_t needed(std::size_t done, double half_width) const {
    return std::max(done, pairs_for(half_width_for(plan_.resolution), half_width, done));
  }

  [[nodiscard]] Announcement announcement(std::size_t done, Duration since) const {
    const std::size_t rounds = needed(done, kPilotError * *half_width_);
    return {.after = done, .pairs = rounds, .time = time_of(rounds, done, since)};
  }

  [[nodiscard]] std::optional<Duration> left(std::size_t done, Duration since) const {
    std::optional<Duration> end;
    const auto at_most = [&](Duration time) { end = end ? std::min(*end, time) : time; };
    if (plan_.runs) at_most(time_of(*plan_.runs, done, since));
    if (plan_.time) at_most(*plan_.time);
    if (plan_.until_precise && half_width_)
      at_most(time_of(needed(done, *half_width_), done, since));
    if (!end) return std::nullopt;
    return std::max(Duration{}, *end - since);
  }

  [[nodiscard]] bool live() const {
    return std::ranges::any_of(bench_.points(), [](const VariedPoint& point) {
      return point.state == PointState::measured;
    });
  }

  /// Could each value be distinguished from the first?
  [[nodiscard]] bool precise() const {
    return !half_width_ || *half_width_ <= half_width_for(plan_.resolution);
  }

  /// The widest half width of a value against the first (with a base: of both sides at one). Blind
  /// to which is better. Unset where none has one.
  [[nodiscard]] std::optional<double> widest() const {
    const VariedPoint* first = nullptr;
    std::optional<double> most;
    for (const VariedPoint& point : bench_.points()) {
      if (point.state != PointState::measured) continue;
      const bool paired = !point.base.empty();
      if (first == nullptr) first = &point;
      if (!paired && first == &point) continue;
      const auto width = blind_half_width(paired ? point.base : first->now, point.now);
      if (width) most = std::max(most.value_or(0), *width);
    }
    return most;
  }

  const SweepOptions& options_;
  const SamplingPlan& plan_;
  const VariedReceivers& receivers_;
  VariedBench bench_;
  std::vector<std::size_t> all_;
  std::optional<double> half_width_;  ///< See widest(); after the last round.
  Steady::time_point began_ = Steady::now();
};

/// Places of points by their values: as numbers, or as they were given.
std::vector<std::size_t> ascending(const std::vector<VariedPoint>& points) {
  std::vector<double> numbers;
  for (const VariedPoint& point : points) {
    double number = 0;
    const char* const end = point.value.data() + point.value.size();
    const auto [at, error] = std::from_chars(point.value.data(), end, number);
    if (error != std::errc() || at != end) {
      std::vector<std::size_t> order(points.size());
      std::iota(order.begin(), order.end(), 0U);
      return order;
    }
    numbers.push_back(number);
  }
  return ascending_places(numbers);
}

/// Of a value that is certainly as good as the best, or worse: do clocks allow that to be said?
std::string clocks_forbid_standing(const VariedOutcome& outcome,
                                   const std::vector<std::vector<double>>& costs, const Knee& found,
                                   std::size_t place, double resolution) {
  const std::optional<Standing> standing = found.rows[place].standing;
  if (standing != Standing::within && standing != Standing::worse) return {};
  const auto runs_of = [&](std::size_t at) {
    return costly_runs(outcome.points[at].runs, Side::now, costs[at]);
  };
  const auto agree = [&](const std::vector<double>& best, const std::vector<double>& here) {
    const std::optional<PairedRatio> cost = paired_ratio(best, here);
    return cost && standing_of(cost->interval, resolution) == *standing;
  };
  return clocks_forbid(runs_of(*found.best), runs_of(place), agree,
                       {.base = "the best", .now = "this value"});
}

/// Clocks of both sides against the claim about a value.
void look_at_clocks(const VariedPoint& point, const Metric& metric, double resolution,
                    SweepRow& row) {
  if (!is_speed(metric.unit)) return;
  const bool more = metric.more_is_better;
  row.clocks =
      clocks_forbid(*row.claim, costly_runs(point.runs, Side::base, costs_of(point.base, more)),
                    costly_runs(point.runs, Side::now, costs_of(point.now, more)), resolution);
  if (row.clocks.empty()) return;
  row.claim->verdict = Verdict::cannot_tell;
  row.claim->reason = row.clocks;
}

void judge_alone(const VariedOutcome& outcome, const Metric& metric, double resolution,
                 SweepVerdict& verdict) {
  std::vector<std::vector<double>> costs;
  for (const SweepRow& row : verdict.rows) {
    costs.push_back(row.now ? costs_of(outcome.points[row.point].now, metric.more_is_better)
                            : std::vector<double>());
  }
  const std::vector<std::size_t> order = ascending(outcome.points);
  Knee found = find_knee(costs, order, resolution);
  if (found.best && is_speed(metric.unit)) {
    for (std::size_t place = 0; place < costs.size(); ++place) {
      std::string why = clocks_forbid_standing(outcome, costs, found, place, resolution);
      if (why.empty()) continue;
      found.rows[place].standing = Standing::cannot_tell;
      verdict.rows[place].clocks = std::move(why);
    }
    settle_knee(found, order);
  }
  for (std::size_t place = 0; place < costs.size(); ++place) {
    verdict.rows[place].standing = found.rows[place].standing;
    verdict.rows[place].cost = found.rows[place].cost;
  }
  verdict.best = found.best;
  verdict.knee = found.knee;
  verdict.perhaps = std::move(found.perhaps);
}

}  // namespace

Result<VariedOutcome> run_sweep(const SweepOptions& options, const VariedReceivers& receivers) {
  return Sweep(options, receivers).run();
}

SweepVerdict judge_sweep(const VariedOutcome& outcome, bool paired, double resolution) {
  SweepVerdict verdict;
  std::vector<Claim> claims;
  const Metric* const metric = outcome.headline.empty() ? nullptr : metric_named(outcome.headline);
  for (std::size_t place = 0; place < outcome.points.size(); ++place) {
    const VariedPoint& point = outcome.points[place];
    SweepRow row{.point = place,
                 .base = {},
                 .now = {},
                 .claim = {},
                 .standing = {},
                 .cost = {},
                 .clocks = {}};
    if (metric != nullptr && point.state == PointState::measured && !point.now.empty()) {
      row.now = describe(point.now);
      if (paired) {
        row.base = describe(point.base);
        row.claim = claim_about(*metric, point.base, point.now, resolution);
        look_at_clocks(point, *metric, resolution, row);
        claims.push_back(*row.claim);
      }
    }
    verdict.rows.push_back(std::move(row));
  }
  if (metric == nullptr) return verdict;
  if (!paired) {
    judge_alone(outcome, *metric, resolution, verdict);
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
