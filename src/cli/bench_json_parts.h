// Parts of the JSON that every kind of bench writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "measure/bench.h"
#include "measure/claim.h"
#include "measure/metrics.h"

namespace fathom::cli {

double seconds(Duration time);
std::optional<double> seconds(const std::optional<Duration>& time);
std::string_view name_of(measure::Side side);
/// As a shell has it.
int exit_code_of(const measure::ChildRun& run);
/// "step_ns", "throughput_per_s": the metric's column of runs.
std::string column_of(const measure::Metric& metric);
/// Is that metric a column of its own? Others are those of the process.
bool has_column(const measure::Metric& metric);

/// The columns of its metrics as CSV, each with a comma behind it.
std::string metric_cells(const measure::BenchRun& run);

/// [low, high], or null.
void write_bounds(JsonWriter& json, const std::optional<Bounds>& bounds);
/// Members of an open object.
void write_summary(JsonWriter& json, const SampleSummary& summary);
/// The verdict's value, which is expected, and further members.
void write_claim(JsonWriter& json, const measure::Claim& claim);
/// An object.
void write_run(JsonWriter& json, const measure::BenchRun& run);
/// An object.
void write_conditions(JsonWriter& json, const measure::Conditions& conditions);

}  // namespace fathom::cli
