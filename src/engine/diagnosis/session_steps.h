// The steps that a session folder has timed, without a diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

struct SessionSteps {
  std::vector<std::int64_t> ns;  ///< The length of each, in their order; at least one.
  std::int64_t waited_ns = 0;    ///< For batches of data loaders, in all of them.
};

/// Of the first recording of the folder (lowest rank) that has steps; unset where none has, and
/// where nothing can be read.
std::optional<SessionSteps> session_steps(const std::string& folder);

}  // namespace fathom
