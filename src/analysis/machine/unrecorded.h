// What a recording says that it could not record.
#pragma once

#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Something that was not recorded.
struct Unrecorded {
  std::string what;
  std::string why;
  std::string lost;      ///< The numbers that are missing in consequence; may be empty.
  std::string remedy;    ///< What would allow it.
  bool machine = false;  ///< It is the machine's telemetry, not what happens in the program.
};

/// The lists of the manifest and of each process; a sentence that two say is kept once.
std::vector<Unrecorded> unrecorded(const Trace& trace);

}  // namespace fathom
