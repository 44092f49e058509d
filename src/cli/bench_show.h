// The result of a bench for people: text and markdown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/bench.h"
#include "measure/metrics.h"
#include "measure/target.h"
#include "render/style.h"

namespace fathom::cli {

/// All that is shown.
struct BenchResult {
  measure::BenchOptions options;
  measure::BenchOutcome outcome;
  std::vector<measure::MeasuredMetric> metrics;   ///< Empty where no run was complete.
  std::optional<measure::TargetProgress> target;  ///< Unset where none was asked for.

  [[nodiscard]] bool paired() const { return !options.base.empty(); }
};

/// A rounded time of waiting: "4 min", "35 s".
std::string about_text(Duration time);
/// Processor, cores, load, seed in one line.
std::string bench_conditions_text(const measure::Conditions& conditions, std::uint64_t seed);
/// For a cell of a markdown table.
std::string markdown_cell(std::string_view text);

std::string bench_text(const BenchResult& result, const Style& style);
std::string bench_markdown(const BenchResult& result);
/// "±1 % takes up to about 350 pairs, 4 min in all": with what to ask for, where the plan ends
/// before. `units` are what is counted.
std::string announcement_text(const measure::Announcement& announced,
                              const measure::SamplingPlan& plan, std::string_view units);
/// Each run that counts, in the order of pairs: a line for each side.
std::string bench_svg(const BenchResult& result);
/// "37 pairs, ±2.1 %, 1.3 min left".
std::string progress_text(const measure::SamplingState& state, bool paired);

}  // namespace fathom::cli
