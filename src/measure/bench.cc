// Runs commands until the sampling is done.
#include "measure/bench.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "measure/command_words.h"
#include "measure/metrics.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;
/// A program with fewer is not one that goes on in steps.
constexpr std::size_t kFewestSteps = 3;

class Bench {
 public:
  Bench(const BenchOptions& options, const BenchReceivers& receivers)
      : options_(options), receivers_(receivers) {}

  Result<BenchOutcome> run() {
    out_.conditions = conditions_at_start();
    if (receivers_.warning) {
      for (const std::string& warning : warnings_about(out_.conditions))
        receivers_.warning(warning);
    }
    began_ = Steady::now();
    SamplingPlan plan = options_.plan;
    plan.paired = !options_.base.empty();
    if (watch_steps() && warm_up(plan.paired)) {
      decide();
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
    out_.elapsed = Steady::now() - began_;
    out_.interrupted = runner_.interrupted();
    end_conditions(out_.conditions);
    return std::move(out_);
  }

 private:
  /// Those of the warm-up, where it is to decide. False after an error.
  bool watch_steps() {
    const bool automatic = options_.metric == kAutoMetric;
    if (!automatic) out_.headline = metric_named(options_.metric)->id;
    if (automatic ? options_.warmup == 0 : !metric_named(options_.metric)->of_steps) return true;
    Result<std::unique_ptr<record::StepWatch>> watch = record::StepWatch::create();
    if (watch) {
      watch_ = std::move(*watch);
    } else if (!automatic) {
      error_ = watch.error();
    }
    return !error_;
  }

  /// After the warm-up: a program that is no Python program, or has no steps, is not watched.
  void decide() {
    if (options_.metric != kAutoMetric) return;
    const bool stepped =
        !out_.runs.empty() && std::ranges::all_of(out_.runs, [](const BenchRun& run) {
          return run.steps && run.steps->ns.size() >= kFewestSteps;
        });
    out_.headline = stepped ? kStepMetric : kWallMetric;
    if (!stepped) watch_.reset();
  }

  bool warm_up(bool paired) {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      if (paired && !measure(Side::base, i, true)) return false;
      if (!measure(Side::now, i, true)) return false;
    }
    return true;
  }

  bool prepare() {
    if (options_.prepare.empty()) return true;
    const Result<ChildRun> ran = runner_.run({"/bin/sh", "-c", options_.prepare}, {});
    if (!ran) {
      error_ = ran.error();
      return false;
    }
    if (ran->ended == Ended::interrupted) return false;
    if (!ran->fine()) fail("--prepare", options_.prepare, *ran);
    return ran->fine();
  }

  std::optional<double> measure(Side side, std::size_t pair, bool warmup) {
    if (runner_.interrupted() != 0 || !prepare()) return std::nullopt;
    const std::vector<std::string>& words = side == Side::base ? options_.base : options_.command;
    BenchRun run;
    run.side = side;
    run.warmup = warmup;
    run.pair = pair;
    run.order = out_.runs.size();
    run.begin_ns = to_ns(Duration(Steady::now() - began_));
    ChildOptions how = options_.child;
    if (watch_) {
      Result<std::vector<std::string>> variables = watch_->begin();
      if (!variables) {
        error_ = std::move(variables).error();
        return std::nullopt;
      }
      how.environment = std::move(*variables);
    }
    Result<ChildRun> child = runner_.run(words, how);
    if (!child) {
      error_ = std::move(child).error();
      return std::nullopt;
    }
    if (watch_) run.steps = watch_->end();
    run.child = std::move(*child);
    const ChildRun& ran = run.child;
    if (ran.ended == Ended::interrupted) return std::nullopt;
    if (ran.ended == Ended::timed_out || (!ran.fine() && !options_.ignore_failure)) {
      fail(side == Side::base ? "the base" : "the command", command_line(words), ran);
      return std::nullopt;
    }
    // What decides is not known before the end of the warm-up.
    const std::optional<double> value =
        out_.headline.empty() ? std::optional<double>(0) : metric_named(out_.headline)->value(run);
    if (!value) {
      lacks_value(side, words);
    } else {
      out_.runs.push_back(std::move(run));
    }
    return value;
  }

  void lacks_value(Side side, const std::vector<std::string>& words) {
    const Metric& metric = *metric_named(out_.headline);
    const std::string text =
        (side == Side::base ? "the base (" : "the command (") + command_line(words) + ") " +
        (metric.of_steps ? "had no steps that Fathom sees"
                         : "has no " + std::string(metric.title) + " of its own") +
        ", in run " + std::to_string(out_.runs.size() + 1) +
        "; --metric wall measures the whole process";
    out_.failure = Failure{.what = text, .last_words = {}};
  }

  void fail(const std::string& what, const std::string& command, const ChildRun& ran) {
    std::string text = what + " (" + command + ") " + ending_of(ran) + ", in run " +
                       std::to_string(out_.runs.size() + 1);
    if (ran.ended == Ended::by_itself && what != "--prepare")
      text += "; --ignore-failure counts such runs like others";
    out_.failure = Failure{.what = std::move(text), .last_words = ran.last_words};
  }

  const BenchOptions& options_;
  const BenchReceivers& receivers_;
  ChildRunner runner_;
  std::unique_ptr<record::StepWatch> watch_;
  Steady::time_point began_;
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
