// What a recording reports to whoever started it, while it runs.
#pragma once

#include <functional>
#include <string>

namespace fathom::record {

/// Receivers of sentences for the user. All must be set; they are called on the thread that
/// records, and on one that looks whether the program hangs.
struct Messages {
  std::function<void(const std::string&)> progress;  ///< What happens; a quiet caller drops it.
  std::function<void(const std::string&)> warning;   ///< The recording lies or is not as asked for.
  std::function<void(const std::string&)> error;     ///< Something failed; never to be dropped.
};

}  // namespace fathom::record
