// The result of a bench for programs: JSON and CSV.
#pragma once

#include <string>
#include <string_view>

#include "cli/bench_show.h"
#include "measure/measured_json.h"

namespace fathom::cli {

/// Schema fathom.bench/1 (docs/bench.schema.json), without a final newline.
std::string bench_json(const BenchResult& result, std::string_view indent);
/// What is reported of the plan beside its sampling.
measure::PlanWords plan_words(const measure::BenchOptions& options);
/// One row a run, warm-up too.
std::string bench_csv(const BenchResult& result);

}  // namespace fathom::cli
