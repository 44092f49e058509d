// Frame: the page's files put into one, around what it carries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::server {

/// Script and style stand in the file, and the policy names them by their digests: nothing else may
/// run, and nothing is loaded or asked for.
class Frame {
 public:
  /// Of the compiled-in page. Error: internal, where the page is not built as this expects.
  static Result<Frame> make();

  /// Bytes that an archive may have, for a file of at most so many.
  [[nodiscard]] std::size_t room(std::size_t most) const;
  [[nodiscard]] std::string with(std::string_view archive) const;

 private:
  std::string before_;
  std::string behind_;
};

}  // namespace fathom::server
