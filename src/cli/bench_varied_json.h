// Results of a bench over several values, for programs.
#pragma once

#include <string>
#include <string_view>

#include "cli/bench_varied.h"

namespace fathom::cli {

std::string varied_json(const VariedResult& result, std::string_view indent);
/// A row for each run.
std::string varied_csv(const VariedResult& result);
std::string bisect_json(const BisectResult& result, std::string_view indent);
std::string bisect_csv(const BisectResult& result);

}  // namespace fathom::cli
