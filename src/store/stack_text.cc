// Walks sampled stacks and names their frames.
#include "store/stack_text.h"

#include <algorithm>

namespace fathom {

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
