// FoldedStack: a distinct call stack as flame graphs take it.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fathom {

/// What is deeper in a stack belongs to the entry at this depth. As deep as Python calls by
/// default: texts of stacks without end would be longer than any memory.
inline constexpr std::uint32_t kDeepestStack = 1000;

/// One distinct stack, outermost first, entries joined by ";".
struct FoldedStack {
  std::string text;
  Duration time{};
  std::int64_t count = 0;  ///< Events (host), activities (device) or samples that end in it.
};

}  // namespace fathom
