// Nodes of the backward pass, by the names of their ranges.
#pragma once

#include <string_view>

namespace fathom {

/// Is it the range in which autograd's engine runs a node?
inline bool is_backward_node(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function: ");
}

/// Is it a node of second derivatives, as "TanhBackwardBackward0" is?
inline bool is_twice_backward(std::string_view name) {
  return name.find("BackwardBackward") != std::string_view::npos;
}

}  // namespace fathom
