// Parts of the JSON that every kind of bench writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "measure/bench_run.h"
#include "measure/claim.h"
#include "measure/conditions.h"
#include "measure/measured.h"
#include "measure/metric.h"
#include "measure/sampling.h"

namespace fathom::measure {

double seconds(Duration time);
std::optional<double> seconds(const std::optional<Duration>& time);
/// "base", "new".
std::string_view name_of(Side side);
/// As a shell has it.
int exit_code_of(const ChildRun& run);
/// "step_ns", "throughput_per_s": the metric's column of runs.
std::string column_of(const Metric& metric);
/// Is that metric a column of its own? Others are those of the process.
bool has_column(const Metric& metric);

/// The columns of its metrics as CSV, each with a comma behind it.
std::string metric_cells(const BenchRun& run);

/// [low, high], or null.
void write_bounds(JsonWriter& json, const std::optional<Bounds>& bounds);
/// Members of an open object. `withheld`: why there are no percentiles, where it is not the number
/// of values.
void write_summary(JsonWriter& json, const SampleSummary& summary, std::string_view withheld = {});
/// An object, or null.
void write_optional_summary(JsonWriter& json, const std::optional<SampleSummary>& summary);
/// The verdict's value, which is expected, and further members; without a claim all are null.
void write_claim(JsonWriter& json, const Claim* claim);
/// An object.
void write_metric(JsonWriter& json, const MeasuredMetric& metric);

/// How it was asked for: what a function has not is as it is here.
struct PlanWords {
  std::size_t warmup = 0;
  std::string prepare;
  std::optional<Duration> timeout;
  std::string input;
  bool ignore_failure = false;
};
/// An object.
void write_plan(JsonWriter& json, const SamplingPlan& plan, const PlanWords& words);
/// An object, or null.
void write_announced(JsonWriter& json, const std::optional<Announcement>& announced);
/// An object.
void write_run(JsonWriter& json, const BenchRun& run);
/// An object of texts.
void write_texts(JsonWriter& json, const std::vector<std::pair<std::string, std::string>>& texts);
/// An object.
void write_conditions(JsonWriter& json, const Conditions& conditions);

}  // namespace fathom::measure
