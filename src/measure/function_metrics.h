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
#include "measure/knee.h"
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
  std::string launches;      ///< "seen", "hidden"; empty where events do not time.
  std::string device;        ///< Its name; empty without one.
  /// Of the program: versions, threads, switches; in an order of its own.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> notes;  ///< What is to be known about this result, a sentence each.
  [[nodiscard]] bool paired() const { return options.plan.paired; }
};

/// The headline is judged alone and held against the clocks. Of calls that give items the other
/// metrics are judged together.
FunctionResult function_result(FunctionOptions options, FunctionOutcome outcome);

/// What was measured of the same function later, after `first`: their samples in the order of time.
FunctionResult joined(FunctionResult first, FunctionResult later);

/// What a function cost at a value of a sweep, and where that was measured.
struct FunctionCosts {
  const FunctionResult* result = nullptr;  ///< Must live as long.
  std::vector<double> costs;               ///< Of its complete samples.
};
/// Why the standing of a value against the best cannot stay, as of two sides whose clocks differ.
/// "" where it stays, and of one of which nothing is certain.
std::string clocks_forbid_standing(const FunctionCosts& best, const FunctionCosts& here,
                                   Standing standing, double resolution);

}  // namespace fathom::measure
