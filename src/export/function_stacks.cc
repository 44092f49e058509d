// Makes samples of functions.
#include "export/function_stacks.h"

#include <limits>

namespace fathom {

namespace {

Trace stacks_of_functions(const Trace& trace) {
  Trace made;
  const StringId one = made.strings.intern("own time of functions");
  const StringId of_several = made.strings.intern("own time of functions, process");
  for (const FunctionTime& function : trace.functions) {
    if (function.self <= Duration{}) continue;
    StackFrame frame;
    frame.function = made.strings.intern(trace.text(function.name));
    const std::string_view file = trace.text(function.file);
    // What the interpreter itself has is nowhere.
    frame.file = made.strings.intern(file == "~" ? std::string_view() : file);
    constexpr auto kLastLine = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
    if (0 < function.line && function.line <= kLastLine)
      frame.line = static_cast<std::int32_t>(function.line);
    StackSample sample;
    sample.tid = function.pid;  // What stands behind the name.
    sample.thread = function.pid == kAbsent ? one : of_several;
    sample.frame = static_cast<std::uint32_t>(made.stack_frames.size());
    sample.on_cpu = function.self;
    made.stack_frames.push_back(frame);
    made.stack_samples.push_back(sample);
  }
  return made;
}

}  // namespace

bool only_functions_have_stacks(const Trace& trace) {
  return trace.stack_samples.empty() && !trace.functions.empty();
}

Result<WriteCounts> write_stacks(const Trace& trace, const WriteSelection& selection,
                                 ByteSink& sink, decltype(TraceWriter::write) write_samples) {
  if (!only_functions_have_stacks(trace)) return write_samples(trace, selection, sink);
  return write_samples(stacks_of_functions(trace), {}, sink);
}

}  // namespace fathom
