// Finds frames again by their caller and place.
#include "formats/common/frame_table.h"

namespace fathom {

std::uint32_t FrameTable::add(const StackFrame& frame) {
  const std::uint32_t depth = frame.parent == kNoFrame ? 1 : depths_[frame.parent] + 1;
  if (depth > kDeepest) return frame.parent;
  const auto [at, fresh] = rows_.try_emplace({frame.parent, frame.function, frame.file, frame.line},
                                             static_cast<std::uint32_t>(frames_.size()));
  if (fresh) {
    frames_.push_back(frame);
    depths_.push_back(depth);
  }
  return at->second;
}

}  // namespace fathom
