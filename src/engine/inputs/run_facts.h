// Facts about a session folder and the merging of its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/inputs/run_folder.h"
#include "store/merge.h"

namespace fathom {

/// Without its folder.
std::string file_name(const std::string& path);

/// Says what was not taken, and which steps the whole run had.
void say_counts(Trace& trace, const MergeCounts& counts);

/// What a recording states of its clocks, all added up; it is kept under the file's name.
std::int64_t take_clock_error(Trace& trace, const std::string& name);

/// How far the clocks of two files were found apart, by what both saw.
void say_distance(Trace& trace, const MergeCounts& counts, const std::string& name);

/// The manifest, the conditions of the run, files that are no part of the trace, and `warnings`.
void add_run_facts(Trace& trace, const RunRecording& recording,
                   const std::vector<std::string>& warnings);

}  // namespace fathom
