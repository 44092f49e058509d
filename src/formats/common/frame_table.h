// FrameTable: the frames of sampled stacks, each once below its caller.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Adds to a trace's stack_frames. Borrows them.
class FrameTable {
 public:
  /// What is called by deeper functions belongs to the one at this depth. CPython ends a recursion
  /// long before.
  static constexpr std::uint32_t kDeepest = 4096;

  explicit FrameTable(std::vector<StackFrame>& frames) : frames_(frames) {}

  /// Its row; `frame.parent`, an earlier row or kNoFrame, where that is too deep.
  std::uint32_t add(const StackFrame& frame);

 private:
  std::vector<StackFrame>& frames_;
  /// Parent, function, file and line of each row.
  std::map<std::tuple<std::uint32_t, StringId, StringId, std::int32_t>, std::uint32_t> rows_;
  std::vector<std::uint32_t> depths_;  ///< By row; an outermost one has 1.
};

}  // namespace fathom
