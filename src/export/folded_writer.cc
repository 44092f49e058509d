// folded: sampled stacks as lines "main;work 1200000", from which flame graphs are drawn.
#include <map>
#include <string>
#include <vector>

#include "export/function_stacks.h"
#include "export/sampled_stacks.h"
#include "export/write_buffer.h"
#include "store/stack_text.h"

namespace fathom {
namespace {

Result<WriteCounts> write_samples(const Trace& trace, const WriteSelection& selection,
                                  ByteSink& sink) {
  WriteCounts counts;
  std::map<std::string, Duration> weights;
  std::vector<std::uint32_t> rows;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    for (const SampledPart& part : samples) {
      const StackSample& sample = trace.stack_samples[part.row];
      frames_of(trace, sample.frame, rows);
      std::string text = stack_text(trace, sample, rows);
      if (part.is_blocked) text.append(";").append(kBlockedFrame);
      weights[text] += part.time;
      ++counts.events;
    }
  }
  WriteBuffer out(sink);
  for (const auto& [line, weight] : weights) {
    if (out.stopped()) break;
    out.text(line).character(' ').number(to_ns(weight)).character('\n');
  }
  const Result<void> finished = out.finish();
  if (!finished) return finished.error();
  counts.bytes = out.written();
  return counts;
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  if (!only_functions_have_stacks(trace)) return write_samples(trace, selection, sink);
  return write_samples(stacks_of_functions(trace), {}, sink);
}

constexpr std::string_view kExtensions[] = {".folded"};

}  // namespace

TraceWriter folded_writer() {
  return {.id = "folded",
          .title = "Sampled stacks with their ns on a processor or blocked, for flame graphs",
          .text = true,
          .writes = WritesStacks::samples_or_functions,
          .extensions = kExtensions,
          .write = write};
}

}  // namespace fathom
