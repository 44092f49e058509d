// Results of a bench over several values of one thing, for people and programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure/bisect.h"
#include "measure/crossover.h"
#include "measure/sweep.h"
#include "render/style.h"

namespace fathom::cli {

/// A sweep or, where `crossover` is set, the sizes of a crossover.
struct VariedResult {
  measure::BenchOptions options;
  measure::VariedOutcome outcome;
  measure::SweepVerdict verdict;
  std::optional<measure::CrossoverOutcome> crossover;  ///< Without its points, which are moved.

  [[nodiscard]] bool paired() const { return !options.base.empty(); }
};

std::string varied_text(const VariedResult& result, const Style& style);
std::string varied_markdown(const VariedResult& result);
std::string varied_json(const VariedResult& result, std::string_view indent);
/// A row for each run.
std::string varied_csv(const VariedResult& result);
std::string varied_svg(const VariedResult& result);

/// --bisect.
struct BisectResult {
  measure::BisectOptions options;
  measure::BisectOutcome outcome;
};

std::string bisect_text(const BisectResult& result, const Style& style);
std::string bisect_markdown(const BisectResult& result);
std::string bisect_json(const BisectResult& result, std::string_view indent);
std::string bisect_csv(const BisectResult& result);
/// "batch 64: runs, peak memory 1.2 GiB".
std::string probe_text(const std::string& name, const measure::Probe& probe);

}  // namespace fathom::cli
