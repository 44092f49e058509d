// FoldedStack: a distinct call stack as flame graphs take it.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fathom {

/// One distinct stack, outermost first, entries joined by ";".
struct FoldedStack {
  std::string text;
  Duration time{};
  std::int64_t count = 0;  ///< Events (host), activities (device) or samples that end in it.
};

}  // namespace fathom
