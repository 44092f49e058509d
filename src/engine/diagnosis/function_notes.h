// What a profile of functions tells by itself, where nothing else was recorded: pstats of others.
#pragma once

#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Does the trace hold sums of functions, and nothing that has a time?
bool only_functions(const Trace& trace);

/// Sentences on such a trace: the functions with the longest own time, the one that is called most,
/// the one with the most calls inside another of its own, and what is missing. Empty for any other
/// trace. O(functions log functions).
std::vector<std::string> function_notes(const Trace& trace);

}  // namespace fathom
