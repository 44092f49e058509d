// Puts sampled stacks in order.
#include "export/sampled_stacks.h"

#include <algorithm>

namespace fathom {

std::map<SampledThread, std::vector<std::uint32_t>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection) {
  std::map<SampledThread, std::vector<std::uint32_t>> threads;
  for (std::size_t row = 0; row < trace.stack_samples.size(); ++row) {
    const StackSample& sample = trace.stack_samples[row];
    const bool inside = !selection.window || (selection.window->begin <= sample.time &&
                                              sample.time < selection.window->end);
    if (inside && sample.on_cpu > Duration{})
      threads[{sample.pid, sample.tid}].push_back(static_cast<std::uint32_t>(row));
  }
  return threads;
}

void frames_of(const Trace& trace, std::uint32_t frame, std::vector<std::uint32_t>& rows) {
  rows.clear();
  for (; frame != kNoFrame; frame = trace.stack_frames[frame].parent) rows.push_back(frame);
  std::ranges::reverse(rows);
}

std::string frame_text(const Trace& trace, std::uint32_t frame) {
  const StackFrame& found = trace.stack_frames[frame];
  std::string text(trace.text(found.function));
  const std::string_view file = trace.text(found.file);
  if (file.empty()) return text;
  text.append(" (").append(file);
  if (found.line >= 0) text += ":" + std::to_string(found.line);
  return text + ")";
}

std::string thread_text(const Trace& trace, const StackSample& sample) {
  return "[" + std::string(trace.text(sample.thread)) + "]";
}

}  // namespace fathom
