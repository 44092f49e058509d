// The run behind a recording as text: resources, energy, processes, what is missing.
#pragma once

#include <string>

#include "engine/diagnosis/run_summary.h"
#include "render/style.h"

namespace fathom {

/// Lines for the short screen of a diagnosis: times of the main process, telemetry, energy, and in
/// a line what was not recorded. Ends with a newline.
std::string run_lines(const RunSummary& run, const Style& style);

/// All steps of the run that were timed, recorded in depth or not; "" where there are none.
std::string timed_steps(const RunSummary& run);
/// Its beginning, up to the percentiles: "91.98 ms per step, median of 20 timed (mean …, p99 …"; ""
/// where nobody timed them.
std::string timed_briefly(const RunSummary& run);

/// The processes as /usr/bin/time prints them, at most `most` lines.
std::string process_lines(const RunSummary& run, std::size_t most, const Style& style);

/// Phases, threads, pauses of the garbage collector, annotations and functions: what was recorded
/// inside a program without torch.
std::string inside_lines(const RunSummary& run, const Style& style);

/// Everything that was not recorded, with what is missing in consequence and the remedy; empty
/// where there is none.
std::string not_recorded_lines(const RunSummary& run, const Style& style);

}  // namespace fathom
