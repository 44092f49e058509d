// What can be recorded here, and what would allow more: lines of `fathom doctor`.
#pragma once

#include <string>
#include <vector>

namespace fathom::monitor {

struct Ability {
  std::string what;  ///< "GPU telemetry".
  bool available = false;
  std::string why;     ///< Why not, or a detail of what is there.
  std::string remedy;  ///< What would allow it, with the least rights; "" where nothing would.
};

/// The ability of `what` to be there.
inline Ability able(std::string what, std::string detail = {}) {
  return {.what = std::move(what), .available = true, .why = std::move(detail), .remedy = {}};
}

}  // namespace fathom::monitor
