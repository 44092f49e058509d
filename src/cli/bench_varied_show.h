// Results of a bench over several values, for people.
#pragma once

#include <string>

#include "cli/bench_varied.h"
#include "render/style.h"

namespace fathom::cli {

std::string varied_text(const VariedResult& result, const Style& style);
std::string varied_markdown(const VariedResult& result);
std::string varied_svg(const VariedResult& result);
std::string bisect_text(const BisectResult& result, const Style& style);
std::string bisect_markdown(const BisectResult& result);
/// "batch 64: runs, peak memory 1.2 GiB".
std::string probe_text(const std::string& name, const measure::Probe& probe);

}  // namespace fathom::cli
