// Doubles, then bisects.
#include "measure/crossover.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "measure/clocks.h"
#include "measure/gpu_conditions.h"
#include "measure/metrics.h"
#include "measure/size_search.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::int64_t kMostDoubled = std::int64_t{1} << 20U;

std::int64_t size_of(const VariedPoint& point) {
  std::int64_t size = 0;
  std::from_chars(point.value.data(), point.value.data() + point.value.size(), size);
  return size;
}

std::int64_t last_of(const VariedRange& range) {
  if (range.last != 0) return range.last;
  return range.first > INT64_MAX / kMostDoubled ? INT64_MAX : range.first * kMostDoubled;
}

class Crossover {
 public:
  Crossover(const CrossoverOptions& options, const VariedReceivers& receivers)
      : options_(options),
        receivers_(receivers),
        bench_(options.bench, options.range.name),
        search_(options.range.first, last_of(options.range), options.bench.plan.resolution) {}

  Result<CrossoverOutcome> run() {
    out_.varied.name = options_.range.name;
    out_.varied.conditions = conditions_with_gpus();
    if (receivers_.warning) {
      for (const std::string& warning : warnings_about(out_.varied.conditions))
        receivers_.warning(warning);
    }
    if (const Result<void> begun = bench_.begin(); !begun) return begun.error();
    const bool known = run_search();
    out_.slower_up_to = search_.slower_up_to().value_or(0);
    out_.faster_from = search_.faster_from().value_or(0);
    out_.surely_slower = search_.surely_slower().value_or(0);
    out_.surely_faster = search_.surely_faster().value_or(0);
    // A size without memory says nothing of what would have been faster there.
    if (known && out_.faster_from == 0 && failed_size_ != 0) {
      out_.not_measured = failed_size_;
    } else if (known && out_.faster_from == 0) {
      out_.crossing = out_.slower_up_to == 0 ? Crossing::unknown : Crossing::never;
    } else if (known) {
      out_.crossing = out_.slower_up_to == 0 ? Crossing::always : Crossing::found;
    }
    if (error_) return std::move(*error_);
    VariedOutcome& varied = out_.varied;
    varied.elapsed = Steady::now() - began_;
    varied.interrupted = bench_.interrupted();
    varied.failure = bench_.failure();
    varied.headline = bench_.headline_id();
    varied.stopped = ended_ ? (late() ? Stopped::time : Stopped::asked) : Stopped::precise;
    varied.points = bench_.take_points();
    std::ranges::sort(varied.points, {}, size_of);
    end_conditions(varied.conditions);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool late() const {
    const std::optional<Duration>& time = options_.bench.plan.time;
    return time && Steady::now() - began_ >= *time;
  }

  /// False where measuring ended before the answer was known.
  bool run_search() {
    while (const std::optional<std::int64_t> size = search_.next()) {
      if (!measure(*size)) return !ended_;
    }
    return true;
  }

  /// False where there is nothing at that size, or measuring ends.
  bool measure(std::int64_t size) {
    ended_ = true;
    if (late()) return false;
    const Result<std::size_t> added = bench_.add(std::to_string(size));
    if (!added) {
      error_ = added.error();
      return false;
    }
    const std::size_t place[] = {*added};
    if (!bench_.warm_up(place)) return fail();
    if (!bench_.decide()) return fail();
    const Steady::time_point sampling = Steady::now();
    const std::size_t pairs = options_.bench.plan.runs.value_or(1);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (late()) return false;
      if (bench_.points()[*added].state != PointState::measured) break;
      if (!bench_.round(place)) return fail();
      if (receivers_.progress)
        receivers_.progress({.runs = bench_.runs(),
                             .elapsed = Steady::now() - began_,
                             .left = left(pair + 1, pairs, Duration(Steady::now() - sampling))});
    }
    ended_ = false;
    const VariedPoint& point = bench_.points()[*added];
    if (point.state != PointState::measured) failed_size_ = size;
    return point.state == PointState::measured && add(point);
  }

  /// As long as this size takes, those that are left will, about; and no longer than `--time`.
  [[nodiscard]] std::optional<Duration> left(std::size_t done, std::size_t pairs,
                                             Duration since) const {
    std::optional<Duration> end;
    if (const std::optional<std::size_t> sizes = search_.left()) {
      const double pair = static_cast<double>(to_ns(since)) / static_cast<double>(done);
      const std::size_t others = *sizes > 0 ? *sizes - 1 : 0;
      const std::size_t rest = pairs - done + others * (pairs + options_.bench.warmup);
      end =
          duration_ns(static_cast<std::int64_t>(std::min(9e18, pair * static_cast<double>(rest))));
    }
    if (const std::optional<Duration>& time = options_.bench.plan.time) {
      const Duration until = std::max(Duration{}, *time - Duration(Steady::now() - began_));
      end = end ? std::min(*end, until) : until;
    }
    return end;
  }

  /// Where clocks differ, times say nothing for sure.
  bool add(const VariedPoint& point) {
    const bool more = bench_.headline()->more_is_better;
    const CostlyRuns base = costly_runs(point.runs, Side::base, costs_of(point.base, more));
    const CostlyRuns now = costly_runs(point.runs, Side::now, costs_of(point.now, more));
    const bool certain = !is_speed(bench_.headline()->unit) ||
                         clocks_forbid(claim_of(base.costs, now.costs, 0), base, now, 0).empty();
    return search_.add(base.costs, now.costs, certain);
  }

  bool fail() {
    if (bench_.error()) error_ = *bench_.error();
    return false;
  }

  const CrossoverOptions& options_;
  const VariedReceivers& receivers_;
  VariedBench bench_;
  SizeSearch search_;
  Steady::time_point began_ = Steady::now();
  CrossoverOutcome out_;
  std::optional<Error> error_;
  std::int64_t failed_size_ = 0;  ///< At which memory or time did not suffice; 0 for none.
  bool ended_ = false;            ///< Measuring ends before the answer is known.
};

}  // namespace

std::string_view to_string(Crossing crossing) {
  static constexpr std::array<std::string_view, 4> kNames = {"found", "always", "never", "unknown"};
  return kNames[static_cast<std::size_t>(crossing)];
}

Result<CrossoverOutcome> run_crossover(const CrossoverOptions& options,
                                       const VariedReceivers& receivers) {
  return Crossover(options, receivers).run();
}

}  // namespace fathom::measure
