// Doubles, then bisects.
#include "measure/crossover.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "measure/metrics.h"
#include "stats/paired_ratio.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::int64_t kMostDoubled = std::int64_t{1} << 20U;

std::int64_t size_of(const VariedPoint& point) {
  std::int64_t size = 0;
  std::from_chars(point.value.data(), point.value.data() + point.value.size(), size);
  return size;
}

class Crossover {
 public:
  Crossover(const CrossoverOptions& options, const VariedReceivers& receivers)
      : options_(options), receivers_(receivers), bench_(options.bench, options.range.name) {}

  Result<CrossoverOutcome> run() {
    out_.varied.name = options_.range.name;
    out_.varied.conditions = conditions_at_start();
    if (receivers_.warning) {
      for (const std::string& warning : warnings_about(out_.varied.conditions))
        receivers_.warning(warning);
    }
    if (const Result<void> begun = bench_.begin(); !begun) return begun.error();
    if (search()) {
      if (out_.faster_from == 0) {
        out_.crossing = out_.slower_up_to == 0 ? Crossing::unknown : Crossing::never;
      } else {
        out_.crossing = out_.slower_up_to == 0 ? Crossing::always : Crossing::found;
      }
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
  [[nodiscard]] std::int64_t last() const {
    if (options_.range.last != 0) return options_.range.last;
    return options_.range.first > INT64_MAX / kMostDoubled ? INT64_MAX
                                                           : options_.range.first * kMostDoubled;
  }
  [[nodiscard]] bool late() const {
    const std::optional<Duration>& time = options_.bench.plan.time;
    return time && Steady::now() - began_ >= *time;
  }

  /// False where measuring ended before the answer was known.
  bool search() {
    for (std::int64_t size = options_.range.first;; size = size > last() / 2 ? last() : 2 * size) {
      if (!measure(size)) return !ended_;
      if (out_.faster_from != 0 || size == last()) break;
    }
    while (out_.faster_from != 0 && out_.slower_up_to != 0 && apart()) {
      if (!measure(out_.slower_up_to + (out_.faster_from - out_.slower_up_to) / 2)) return !ended_;
    }
    return true;
  }

  [[nodiscard]] bool apart() const {
    const auto low = static_cast<double>(out_.slower_up_to);
    return static_cast<double>(out_.faster_from) - low >
           std::max(1.0, low * options_.bench.plan.resolution);
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
    const std::size_t pairs = options_.bench.plan.runs.value_or(1);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (bench_.points()[*added].state != PointState::measured) break;
      if (!bench_.round(place)) return fail();
      if (receivers_.progress)
        receivers_.progress({.runs = bench_.runs(), .elapsed = Steady::now() - began_, .left = {}});
    }
    ended_ = false;
    const VariedPoint& point = bench_.points()[*added];
    return point.state == PointState::measured && learn(point, size);
  }

  bool fail() {
    if (bench_.error()) error_ = *bench_.error();
    return false;
  }

  /// False where the values have no ratio.
  bool learn(const VariedPoint& point, std::int64_t size) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < point.now.size(); ++i) {
      if (!(point.base[i] > 0) || !(point.now[i] > 0)) return false;
      logs.push_back(std::log(point.now[i] / point.base[i]));
    }
    if (logs.empty()) return false;
    const double sign = bench_.headline()->more_is_better ? -1 : 1;
    const bool slower = sign * describe(logs).median > 0;
    if (slower) {
      out_.slower_up_to = size;
    } else {
      out_.faster_from = size;
    }
    const std::optional<PairedRatio> ratio = paired_ratio(point.base, point.now);
    if (!ratio) return true;
    const PairedRatio cost = cost_ratio(*ratio, *bench_.headline());
    if (cost.interval.low > 1) out_.surely_slower = std::max(out_.surely_slower, size);
    if (cost.interval.high < 1)
      out_.surely_faster = out_.surely_faster == 0 ? size : std::min(out_.surely_faster, size);
    return true;
  }

  const CrossoverOptions& options_;
  const VariedReceivers& receivers_;
  VariedBench bench_;
  Steady::time_point began_ = Steady::now();
  CrossoverOutcome out_;
  std::optional<Error> error_;
  bool ended_ = false;  ///< Measuring ends before the answer is known.
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
