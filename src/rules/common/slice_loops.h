// Loops of Python over the slices of a tensor, as they show among the operators of a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rules/common/names.h"
#include "rules/common/user_ops.h"
#include "rules/rule.h"

namespace fathom {

/// Operators [first, last) of a thread that are the same block, `rounds` times.
struct SliceLoop {
  std::size_t begin = 0;  ///< What is not called without the loop: with the unbind before it.
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t rounds = 0;
  std::size_t joined = SIZE_MAX;  ///< What puts the rounds' results together, if anything does.
};

/// Does an operator of this name take slices of a tensor?
bool takes_slices(std::string_view name);

/// The operators that loops are recognised by. O(names).
struct SliceLoopNames {
  explicit SliceLoopNames(const Trace& trace);
  NameSet slicing;
  NameSet unbind;
  NameSet joining;
  NameSet cell;
};

/// The loops among the operators of a thread, by time; none of those around recurrent cells, which
/// cannot work on all slices at once. O(operators).
std::vector<SliceLoop> slice_loops(const RuleContext& rules, const SliceLoopNames& names,
                                   const std::vector<UserOp>& ops);

}  // namespace fathom
