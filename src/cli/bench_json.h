// The result of a bench for programs: JSON and CSV.
#pragma once

#include <string>
#include <string_view>

#include "cli/bench_show.h"

namespace fathom::cli {

/// Schema fathom.bench/1 (docs/bench.schema.json), without a final newline.
std::string bench_json(const BenchResult& result, std::string_view indent);
/// One row a run, warm-up too.
std::string bench_csv(const BenchResult& result);

}  // namespace fathom::cli
