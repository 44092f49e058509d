// SourceRoot: where source files are now that a recording names by where they were.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

class SourceRoot {
 public:
  /// `text` is a folder, or OLD=NEW: what began with the path OLD is below the folder NEW. Errors:
  /// there is no such folder.
  static Result<SourceRoot> asked(const std::string& text);

  /// The text of the file that was recorded as `file`: of a folder, the one at the end of that
  /// path, as long an end as there is. Nothing where it is not there, is no file of its own or is
  /// larger than 4 MiB; a name never leads upwards out of the folder.
  [[nodiscard]] std::optional<std::string> text(std::string_view file) const;

 private:
  SourceRoot(std::string before, std::string folder);

  std::string before_;  ///< Empty: any.
  std::string folder_;
};

}  // namespace fathom
