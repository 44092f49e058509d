// Draws the order of each round, and knows which failures are a value's own.
#include "measure/varied_bench.h"

#include <algorithm>
#include <utility>

#include "capture/launcher/redact.h"
#include "measure/metrics.h"
#include "measure/varied.h"

namespace fathom::measure {
namespace {

/// Uniform, and the same with every standard library.
template <typename Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& bits) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[bits() % i]);
}

bool stepped(const BenchRun& run) { return run.steps && run.steps->ns.size() >= kFewestSteps; }

}  // namespace

std::string_view to_string(PointState state) {
  static constexpr std::string_view kNames[] = {"measured", "out_of_memory", "timed_out"};
  return kNames[static_cast<std::size_t>(state)];
}

VariedBench::VariedBench(const BenchOptions& options, std::string name)
    : options_(options),
      name_(std::move(name)),
      taker_({.child = options.child, .keep = options.keep, .given = options.given}),
      order_(options.plan.seed) {}

const Metric* VariedBench::headline() const {
  return headline_.empty() ? nullptr : metric_named(headline_);
}

Result<void> VariedBench::begin() {
  const bool automatic = options_.metric == kAutoMetric;
  if (!automatic) headline_ = metric_named(options_.metric)->id;
  const bool steps = automatic || headline()->of_steps;
  if (!steps && !options_.telemetry) return {};
  const Result<void> watched = taker_.watch({.steps = steps, .telemetry = options_.telemetry});
  if (!watched && !automatic) return watched.error();
  return {};
}

Result<std::size_t> VariedBench::add(const std::string& value) {
  VariedPoint point;
  point.value = value;
  if (!options_.base.empty()) {
    Result<Commanded> base = with_value(options_.base, name_, value, options_.prepare);
    if (!base) return std::move(base).error();
    base_.push_back(std::move(*base));
  }
  Result<Commanded> now = with_value(options_.command, name_, value, options_.prepare);
  if (!now) return std::move(now).error();
  now_.push_back(std::move(*now));
  points_.push_back(std::move(point));
  return points_.size() - 1;
}

std::vector<VariedBench::Arm> VariedBench::arms(std::span<const std::size_t> points) const {
  std::vector<Arm> arms;
  for (const std::size_t point : points) {
    if (points_[point].state != PointState::measured) continue;
    if (!options_.base.empty()) arms.push_back({.point = point, .side = Side::base});
    arms.push_back({.point = point, .side = Side::now});
  }
  return arms;
}

bool VariedBench::warm_up(std::span<const std::size_t> points) {
  for (std::size_t i = 0; i < options_.warmup; ++i) {
    std::vector<Arm> all = arms(points);
    shuffle(all, order_);
    for (const Arm& arm : all) {
      if (points_[arm.point].state == PointState::measured) run(arm, true, i);
      if (ended_) return false;
    }
  }
  return true;
}

bool VariedBench::decide() {
  if (!headline_.empty()) return true;
  bool any = false;
  bool steps = true;
  bool samples = true;
  const Metric& throughput = *metric_named(kThroughputMetric);
  for (const VariedPoint& point : points_) {
    for (const BenchRun& run : point.runs) {
      any = true;
      steps = steps && stepped(run);
      samples = samples && throughput.value(run).has_value();
    }
  }
  headline_ = any && steps ? (samples ? kThroughputMetric : kStepMetric) : kWallMetric;
  if (any && steps) return true;
  if (!options_.telemetry) {
    taker_.stop_watching();
    return true;
  }
  const Result<void> watched = taker_.watch({.steps = false, .telemetry = true});
  if (!watched) error_ = watched.error();
  return !error_;
}

bool VariedBench::round(std::span<const std::size_t> points) {
  std::vector<Arm> all = arms(points);
  shuffle(all, order_);
  std::vector<std::pair<Arm, double>> values;
  for (const Arm& arm : all) {
    VariedPoint& point = points_[arm.point];
    if (point.state != PointState::measured) continue;
    const std::optional<double> value = run(arm, false, point.now.size());
    if (ended_) return false;
    if (value) values.emplace_back(arm, *value);
  }
  for (const auto& [arm, value] : values) {
    VariedPoint& point = points_[arm.point];
    if (point.state == PointState::measured)
      (arm.side == Side::base ? point.base : point.now).push_back(value);
  }
  return true;
}

bool VariedBench::is_of_point(VariedPoint& point, const BenchRun& run, const Commanded& command) {
  if (run.child.ended == Ended::timed_out) {
    point.state = PointState::timed_out;
  } else if (out_of_memory(run.child, taker_.killed_for_memory())) {
    point.state = PointState::out_of_memory;
  } else {
    return false;
  }
  point.why = capture::redacted_line(command.words) + " " + ending_of(run.child);
  if (!run.child.last_words.empty()) {
    const std::string& words = run.child.last_words;
    const std::size_t last = words.rfind('\n') + 1;  // npos + 1 is 0
    point.why += ": " + capture::redact(std::string_view(words).substr(last));
  }
  return true;
}

std::optional<double> VariedBench::run(const Arm& arm, bool warmup, std::size_t round) {
  VariedPoint& point = points_[arm.point];
  const bool base = arm.side == Side::base;
  const Commanded& command = base ? base_[arm.point] : now_[arm.point];
  const std::string folder = std::string(warmup ? "warmup/" : "") + (base ? "base" : "new") + "/" +
                             folder_named(command.name) + "/" + run_folder(round);
  Result<std::optional<BenchRun>> taken = taker_.take(command, folder);
  ended_ = !taken || !*taken;
  if (!taken) error_ = taken.error();
  if (taker_.failure()) failure_ = taker_.failure();
  if (ended_) return std::nullopt;
  BenchRun run = std::move(**taken);
  run.side = arm.side;
  run.warmup = warmup;
  run.pair = round;
  const bool failed = run.child.ended == Ended::timed_out || !run.child.fine();
  if (failed && is_of_point(point, run, command)) return std::nullopt;
  const std::string what = std::string(base ? "the base" : "the command") + " at " + command.name;
  if (failed && !options_.ignore_failure) {
    failure_ = Failure{
        .what = failure_text(what, capture::redacted_line(command.words), run.child, runs()),
        .last_words = run.child.last_words};
    ended_ = true;
    return std::nullopt;
  }
  const std::optional<double> value =
      headline_.empty() ? std::optional<double>(0) : headline()->value(run);
  if (!value) {
    failure_ =
        Failure{.what = what + " (" + capture::redacted_line(command.words) + ") " +
                        lacks_text(*headline(), taker_) + ", in run " + std::to_string(runs()) +
                        "; --metric wall measures the whole process",
                .last_words = {}};
    ended_ = true;
    return std::nullopt;
  }
  point.runs.push_back(std::move(run));
  return value;
}

}  // namespace fathom::measure
