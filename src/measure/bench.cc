// Runs commands until the sampling is done.
#include "measure/bench.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "capture/launcher/redact.h"
#include "measure/gpu_conditions.h"
#include "measure/metrics.h"
#include "measure/run_taker.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;

class Bench {
 public:
  Bench(const BenchOptions& options, const BenchReceivers& receivers)
      : options_(options),
        receivers_(receivers),
        taker_({.child = options.child, .keep = options.keep, .given = options.given}) {}

  Result<BenchOutcome> run() {
    out_.conditions = conditions_with_gpus();
    if (receivers_.warning) {
      for (const std::string& warning : warnings_about(out_.conditions))
        receivers_.warning(warning);
    }
    const Steady::time_point began = Steady::now();
    SamplingPlan plan = options_.plan;
    plan.paired = !options_.base.empty();
    if (watch() && warm_up(plan.paired) && decide()) {
      const Steady::time_point sampling = Steady::now();
      const SamplingHooks hooks = {
          .measure = [this](Side side, std::size_t pair) { return measure(side, pair, false); },
          .elapsed = [sampling] { return Duration(Steady::now() - sampling); },
          .progress = receivers_.progress,
          .announcement = receivers_.announcement};
      out_.sampled = sample(plan, hooks);
    } else {
      out_.sampled.stopped = Stopped::asked;
    }
    if (error_) return std::move(*error_);
    out_.elapsed = Steady::now() - began;
    out_.interrupted = taker_.interrupted();
    end_conditions(out_.conditions);
    return std::move(out_);
  }

 private:
  /// Steps where they are to decide, devices where they are asked for. False after an error.
  bool watch() {
    const bool automatic = options_.metric == kAutoMetric;
    if (!automatic) out_.headline = metric_named(options_.metric)->id;
    const bool steps = automatic ? options_.warmup > 0 || !options_.keep.empty()
                                 : metric_named(options_.metric)->of_steps;
    if (!steps && !options_.telemetry) return true;
    const Result<void> watched = taker_.watch({.steps = steps, .telemetry = options_.telemetry});
    if (!watched && !(automatic && options_.keep.empty())) error_ = watched.error();
    return !error_;
  }

  /// After the warm-up: a program that is no Python program, or has no steps, is not watched.
  bool decide() {
    if (options_.metric != kAutoMetric) return true;
    const bool stepped =
        !out_.runs.empty() && std::ranges::all_of(out_.runs, [](const BenchRun& run) {
          return run.steps && run.steps->ns.size() >= kFewestSteps;
        });
    out_.headline = stepped ? kStepMetric : kWallMetric;
    if (stepped) return true;
    if (!options_.telemetry) {
      taker_.stop_watching();
      return true;
    }
    const Result<void> watched = taker_.watch({.steps = false, .telemetry = true});
    if (!watched) error_ = watched.error();
    return !error_;
  }

  bool warm_up(bool paired) {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      if (paired && !measure(Side::base, i, true)) return false;
      if (!measure(Side::now, i, true)) return false;
    }
    return true;
  }

  std::optional<double> measure(Side side, std::size_t pair, bool warmup) {
    const std::vector<std::string>& words = side == Side::base ? options_.base : options_.command;
    const std::string what = side == Side::base ? "the base" : "the command";
    const std::string name = side == Side::base ? "base" : "new";
    Result<std::optional<BenchRun>> taken =
        taker_.take({.words = words, .environment = {}, .name = name, .prepare = options_.prepare},
                    (warmup ? "warmup/" : "") + name + "/" + run_folder(pair));
    if (!taken) {
      error_ = std::move(taken).error();
      return std::nullopt;
    }
    if (taker_.failure()) out_.failure = taker_.failure();
    if (!*taken) return std::nullopt;
    BenchRun run = std::move(**taken);
    run.side = side;
    run.warmup = warmup;
    run.pair = pair;
    const ChildRun& ran = run.child;
    if (ran.ended == Ended::timed_out || (!ran.fine() && !options_.ignore_failure)) {
      fail(what, capture::redacted_line(words), ran);
      return std::nullopt;
    }
    // What decides is not known before the end of the warm-up.
    const std::optional<double> value =
        out_.headline.empty() ? std::optional<double>(0) : metric_named(out_.headline)->value(run);
    if (!value) {
      out_.failure = Failure{.what = what + " (" + capture::redacted_line(words) + ") " +
                                     lacks_text(*metric_named(out_.headline), taker_) +
                                     ", in run " + std::to_string(out_.runs.size() + 1) +
                                     "; --metric wall measures the whole process",
                             .last_words = {}};
    } else {
      out_.runs.push_back(std::move(run));
    }
    return value;
  }

  void fail(const std::string& what, const std::string& command, const ChildRun& ran) {
    std::string text = failure_text(what, command, ran, out_.runs.size() + 1);
    if (ran.ended == Ended::by_itself) text += "; --ignore-failure counts such runs like others";
    out_.failure = Failure{.what = std::move(text), .last_words = ran.last_words};
  }

  const BenchOptions& options_;
  const BenchReceivers& receivers_;
  RunTaker taker_;
  BenchOutcome out_;
  std::optional<Error> error_;
};

}  // namespace

Result<BenchOutcome> run_bench(const BenchOptions& options, const BenchReceivers& receivers) {
  return Bench(options, receivers).run();
}

std::vector<double> values_of(const BenchOutcome& outcome, Side side,
                              const std::function<std::optional<double>(const BenchRun&)>& value) {
  std::vector<double> values;
  const std::size_t complete = outcome.sampled.now.size();
  for (const BenchRun& run : outcome.runs) {
    if (run.side != side || run.warmup || run.pair >= complete) continue;
    const std::optional<double> found = value(run);
    if (!found) return {};
    values.push_back(*found);
  }
  return values;
}

}  // namespace fathom::measure
