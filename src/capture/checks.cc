// Names of the states.
#include "capture/checks.h"

namespace fathom::capture {

std::string_view to_string(CheckState state) {
  switch (state) {
    case CheckState::fine:
      return "ok";
    case CheckState::limited:
      return "limited";
    case CheckState::missing:
      return "missing";
    case CheckState::fact:
      break;
  }
  return "info";
}

}  // namespace fathom::capture
