// Calls, sizes blocks, and takes pairs of them.
#include "measure/function_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <sys/resource.h>

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;

/// Blocks of both sides are equal up to this ratio of what each would need.
constexpr std::size_t kEqualUpTo = 8;
/// For so many ns nothing takes a processor away: one call of that length is one block, whatever
/// else the machine does. What looks shorter is timed twice.
constexpr double kLongCall = 1e8;
constexpr double kGrowAtMost = 10;

struct ProcessorTime {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
};

ProcessorTime processor_time() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto ns = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
  };
  return {.user_ns = ns(use.ru_utime), .system_ns = ns(use.ru_stime)};
}

std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }

class FunctionBench {
 public:
  FunctionBench(const FunctionOptions& options, const FunctionHooks& hooks)
      : options_(options), hooks_(hooks), timer_(hooks.timer) {}

  FunctionOutcome run() {
    out_.conditions = hooks_.conditions ? hooks_.conditions() : conditions_at_start();
    if (hooks_.warning) {
      for (const std::string& text : warnings_about(out_.conditions)) hooks_.warning(text);
    }
    began_ = Steady::now();
    if (warm_up() && choose_timer() && size_blocks()) {
      const Steady::time_point sampling = Steady::now();
      out_.sampled =
          sample(options_.plan,
                 {.measure = [this](Side side, std::size_t pair) { return measure(side, pair); },
                  .elapsed = [sampling] { return Duration(Steady::now() - sampling); },
                  .progress = {},
                  .announcement = hooks_.announcement});
    } else {
      out_.sampled.stopped = Stopped::asked;
    }
    out_.mode = timer_.mode;
    out_.clock = timer_.clock;
    out_.timer_cost = timer_.cost;
    out_.least_block = timer_.least;
    out_.elapsed = Duration(Steady::now() - began_);
    end_conditions(out_.conditions);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<Side> sides() const {
    if (!options_.plan.paired) return {Side::now};
    return {Side::base, Side::now};
  }

  /// Nanoseconds of a block; nothing where it failed.
  std::optional<double> time_block(const Place& place, std::size_t calls,
                                   std::optional<ItemTimes>* items = nullptr) {
    if (hooks_.prepare && !hooks_.prepare(place.side)) return stop(place);
    if (options_.items) {
      std::optional<ItemTimes> times = hooks_.call_for_items(place.side);
      if (!times) return stop(place);
      const double end = times->end;
      if (items != nullptr) *items = std::move(times);
      return end;
    }
    const std::optional<double> ns =
        timer_.time([&](std::size_t count) { return hooks_.call(place.side, count); }, calls);
    return ns ? ns : stop(place);
  }

  std::optional<double> stop(const Place& place) {
    out_.failed = place;
    if (timer_.error) out_.timer_error = timer_.error();
    return std::nullopt;
  }

  bool warm_up() {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      for (const Side side : sides()) {
        const Phase phase = i == 0 ? Phase::first_call : Phase::warm_up;
        const auto ns = time_block({.side = side, .phase = phase, .pair = i}, 1);
        if (!ns) return false;
        if (i == 0) out_.first_call_ns[index_of(side)] = *ns;
        last_call_[index_of(side)] = *ns;
      }
    }
    return true;
  }

  bool choose_timer() {
    if (!hooks_.choose_timer) return true;
    std::optional<BlockTimer> chosen = hooks_.choose_timer();
    if (!chosen) {
      stop({.phase = Phase::sizing});
      return false;
    }
    timer_ = std::move(*chosen);
    return true;
  }

  bool size_blocks() {
    if (options_.items || options_.calls) {
      out_.calls.fill(options_.items ? 1 : *options_.calls);
      return true;
    }
    for (const Side side : sides()) {
      const std::optional<std::size_t> calls = calls_for(side);
      if (!calls) return false;
      out_.calls[index_of(side)] = *calls;
    }
    if (options_.plan.paired) {
      const std::size_t fewer = std::min(out_.calls[0], out_.calls[1]);
      const std::size_t more = std::max(out_.calls[0], out_.calls[1]);
      // A block that is timed with less effort than the other's would be a difference.
      if (more <= kEqualUpTo * fewer) out_.calls.fill(more);
    }
    return true;
  }

  std::optional<std::size_t> calls_for(Side side) {
    const auto least = static_cast<double>(to_ns(timer_.least));
    if (last_call_[index_of(side)] > std::max(kLongCall, least)) return 1;
    std::size_t calls = 1;
    std::size_t round = 0;
    const auto time_one = [&] {
      return time_block({.side = side, .phase = Phase::sizing, .pair = round++}, calls);
    };
    while (true) {
      std::optional<double> ns = time_one();
      if (ns && *ns >= least && *ns < kLongCall) {
        const std::optional<double> again = time_one();
        ns = again ? std::min(*ns, *again) : again;
      }
      if (!ns) return std::nullopt;
      if (*ns >= least || calls >= timer_.most_calls) return calls;
      // A little more than what it seems to take: the next block may be faster.
      const double factor = *ns > 0 ? std::clamp(1.2 * least / *ns, 1.5, kGrowAtMost) : kGrowAtMost;
      calls = std::min(timer_.most_calls,
                       static_cast<std::size_t>(std::ceil(static_cast<double>(calls) * factor)));
    }
  }

  std::optional<double> measure(Side side, std::size_t pair) {
    FunctionSample sample;
    sample.side = side;
    sample.pair = pair;
    sample.calls = out_.calls[index_of(side)];
    sample.begin_ns = to_ns(Duration(Steady::now() - began_));
    const ProcessorTime before = processor_time();
    const auto ns = time_block({.side = side, .phase = Phase::pairs, .pair = pair}, sample.calls,
                               &sample.items);
    if (!ns) return std::nullopt;
    const ProcessorTime after = processor_time();
    sample.ns = *ns;
    sample.user_ns = after.user_ns - before.user_ns;
    sample.system_ns = after.system_ns - before.system_ns;
    if (hooks_.clocks) sample.clocks = hooks_.clocks();
    out_.samples.push_back(std::move(sample));
    return *ns / static_cast<double>(out_.calls[index_of(side)]);
  }

  const FunctionOptions& options_;
  const FunctionHooks& hooks_;
  BlockTimer timer_;
  Steady::time_point began_;
  std::array<double, 2> last_call_{};
  FunctionOutcome out_;
};

}  // namespace

std::string place_text(const Place& place, bool paired) {
  std::string text;
  switch (place.phase) {
    case Phase::first_call:
      text = "in the first call";
      break;
    case Phase::warm_up:
      text = "in call " + std::to_string(place.pair + 1) + " of the warm-up";
      break;
    case Phase::sizing:
      text = "while the size of blocks was sought";
      break;
    case Phase::pairs:
      text = (paired ? "in pair " : "in sample ") + std::to_string(place.pair + 1);
      break;
  }
  if (!paired) return text;
  return text + (place.side == Side::base ? ", of the base" : ", of the new");
}

FunctionOutcome bench_function(const FunctionOptions& options, const FunctionHooks& hooks) {
  return FunctionBench(options, hooks).run();
}

}  // namespace fathom::measure
