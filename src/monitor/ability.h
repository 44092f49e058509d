// What can be recorded here, and what would allow more: lines of `fathom doctor`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::monitor {

struct Ability {
  std::string what;  ///< "GPU telemetry".
  bool available = false;
  std::string why;        ///< Why not, or a detail of what is there.
  std::string remedy;     ///< What would allow it, with the least rights; "" where nothing would.
  std::string lost = {};  ///< Without it; "" where it is available.
  std::string_view source = {};  ///< SourceSpec::name, of telemetry.
  bool whole_source = false;     ///< Not one counter of it alone.
};

/// The ability of `what` to be there.
inline Ability able(std::string what, std::string detail = {}) {
  return {.what = std::move(what), .available = true, .why = std::move(detail), .remedy = {}};
}

}  // namespace fathom::monitor
