// What was measured of a function, side by side: one row a metric.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/clock_rule.h"
#include "measure/function_bench.h"
#include "measure/measured.h"
#include "stats/sample.h"

namespace fathom::measure {

struct FunctionResult {
  FunctionOptions options;
  FunctionOutcome outcome;
  std::vector<MeasuredMetric> metrics;  ///< The headline first; empty where no pair is complete.
  ClockSummary base_clocks;
  ClockSummary now_clocks;
  /// The time between items, of all items of all calls of a side; unset where there are none.
  std::optional<SampleSummary> base_gaps;
  std::optional<SampleSummary> now_gaps;
  bool interrupted = false;  ///< Somebody asked to end; what was complete is here.
  std::string l2;            ///< "cold", "warm"; empty without a device.
  std::string device;        ///< Its name; empty without one.
  /// Of the program: versions, threads, switches; in an order of its own.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> notes;  ///< What is to be known about this result, a sentence each.
  [[nodiscard]] bool paired() const { return options.plan.paired; }
};

/// The headline is judged alone and held against the clocks. Of calls that give items the other
/// metrics are judged together.
FunctionResult function_result(FunctionOptions options, FunctionOutcome outcome);

}  // namespace fathom::measure
