// Runs of commands at several values of one thing: each value a process, rounds in random order.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/bench.h"
#include "measure/metrics.h"
#include "measure/run_taker.h"

namespace fathom::measure {

enum class PointState : std::uint8_t { measured, out_of_memory, timed_out };
std::string_view to_string(PointState state);

/// One value, and what was measured at it.
struct VariedPoint {
  std::string value;
  PointState state = PointState::measured;
  std::string why;  ///< How it ended, where it was not measured.
  /// Of the metric that decides, by round; as many as there were complete rounds. `base` is empty
  /// where there is one command.
  std::vector<double> base;
  std::vector<double> now;
  std::vector<BenchRun> runs;  ///< In their order; BenchRun::pair is the round.
};

struct VariedProgress {
  std::size_t runs = 0;  ///< Done.
  Duration elapsed{};
  std::optional<Duration> left;
};

/// A run of each side at each value that is asked for, again and again. What ends for lack of
/// memory or of time is a point of its own state; any other failure ends the measuring.
class VariedBench {
 public:
  /// The options must outlive it.
  VariedBench(const BenchOptions& options, std::string name);

  /// Errors: the runs cannot be watched.
  Result<void> begin();
  /// A point with no run yet; its place. Errors: as with_value().
  Result<std::size_t> add(const std::string& value);
  /// Runs that count for nothing, in random order. False where measuring ends.
  bool warm_up(std::span<const std::size_t> points);
  /// One run of each side of each of these that is still measured, in random order.
  bool round(std::span<const std::size_t> points);
  /// Samples per second where all runs so far tell them, else the step where all have steps, else
  /// the wall time; or what was asked for. False after an error.
  bool decide();

  [[nodiscard]] const std::vector<VariedPoint>& points() const { return points_; }
  [[nodiscard]] std::vector<VariedPoint> take_points() { return std::move(points_); }
  [[nodiscard]] const Metric* headline() const;
  [[nodiscard]] std::string_view headline_id() const { return headline_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  [[nodiscard]] std::size_t runs() const { return taker_.taken(); }
  int interrupted() { return taker_.interrupted(); }

 private:
  struct Arm {
    std::size_t point = 0;
    Side side = Side::now;
  };
  [[nodiscard]] std::vector<Arm> arms(std::span<const std::size_t> points) const;
  /// The value; unset where the point is no longer measured, or measuring ends (see ended_).
  std::optional<double> run(const Arm& arm, bool warmup, std::size_t round);
  /// A run that failed: true where that is the point's own matter.
  bool is_of_point(VariedPoint& point, const BenchRun& run, const Commanded& command);

  const BenchOptions& options_;
  std::string name_;
  RunTaker taker_;
  std::mt19937_64 order_;
  std::vector<VariedPoint> points_;
  std::vector<Commanded> base_;
  std::vector<Commanded> now_;
  std::string_view headline_;
  bool ended_ = false;
  std::optional<Error> error_;
  std::optional<Failure> failure_;
};

}  // namespace fathom::measure
