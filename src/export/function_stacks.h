// A profile of functions as stacks of one frame, for formats that know stacks alone.
#pragma once

#include "export/writer.h"
#include "store/trace.h"

namespace fathom {

/// Are functions all that could be written as stacks?
bool only_functions_have_stacks(const Trace& trace);

/// Writes the samples by `write_samples`. Where functions are all that could be written as stacks:
/// a sample for each that took time of its own, weighing that time, by process. Who called whom is
/// not in it. O(functions) beyond the writing.
Result<WriteCounts> write_stacks(const Trace& trace, const WriteSelection& selection,
                                 ByteSink& sink, decltype(TraceWriter::write) write_samples);

}  // namespace fathom
