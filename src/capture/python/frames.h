// The calls that a thread is in, as profiles of Python keep them: room for more, and the way back
// to one of them.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "capture/python/memory_limit.h"

namespace fathom::python {

/// Room for twice as many, or for the first ones. False: there is no memory, and all is as it was.
template <typename Frame>
bool grow_frames(Frame*& frames, std::size_t& room, std::size_t first) {
  const std::size_t more = room == 0 ? first : room * 2;
  if (!MemoryLimit::take((more - room) * sizeof(Frame))) return false;
  auto* const made = static_cast<Frame*>(std::realloc(frames, more * sizeof(Frame)));
  if (made == nullptr) return false;
  frames = made;
  room = more;
  return true;
}

/// How deep the innermost call is of which is_it(index) holds, the outermost at 1; 0: none is near.
/// Further out than this nobody unwinds without a word; the search must not cost more.
template <typename IsIt>
std::size_t depth_of_call(std::size_t depth, IsIt is_it) {
  constexpr std::size_t kFarthest = 256;
  const std::size_t lowest = depth > kFarthest ? depth - kFarthest : 0;
  while (depth > lowest && !is_it(depth - 1)) --depth;
  return depth == lowest ? 0 : depth;
}

}  // namespace fathom::python
