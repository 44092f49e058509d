// The nn.Module hierarchy of a recording with Python frames, and the time of each module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/structure/links.h"
#include "analysis/structure/nesting.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// One module where it is called from: the same module called from two places is two nodes.
struct ModuleNode {
  std::uint32_t parent = 0;  ///< Row in Modules::nodes; the top node is its own parent.
  StringId name{};           ///< "nn.Module: Linear_0"; invalid for the top node.
  SliceId first{};           ///< Its first frame.
};

struct Modules {
  static constexpr std::uint32_t kTop = 0;
  std::vector<ModuleNode> nodes;  ///< Parents before children; [0] stands for "outside of modules".
  /// Per slice. Python frames: the innermost module frame, itself included. Host work: the module
  /// in whose frame it starts; backward operators and what is in them: the module of their forward
  /// operator.
  Column<std::uint32_t> of;
  /// Per slice: 1 when `of` was found through the forward operator.
  Column<std::uint8_t> joined;

  [[nodiscard]] std::uint32_t operator[](SliceId slice) const { return of[slice.row()]; }
  /// "Net_0/Sequential_0/Linear_1"; "" for the top node.
  [[nodiscard]] std::string path(const Trace& trace, std::uint32_t node) const;
};

Modules compute_modules(const Trace& trace, const Nesting& nesting);

}  // namespace fathom
