// Where results go: standard output or a file.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::cli {

/// Writes whole texts. A reader that went away (fathom … | head) is no error: what follows is
/// dropped, and `closed` means that further work is in vain.
class Output {
 public:
  /// Standard output for "".
  static Result<Output> open(const std::string& path, std::string_view option = "--output");
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  Result<void> write(std::string_view text);
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Reports what the system could write only at the end (a full disk).
  Result<void> finish();

 private:
  Output(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;  ///< Empty for standard output, which is not ours to close.
  bool closed_ = false;
};

/// Writes a file beside the results, where `option` names it. Results are printed whatever becomes
/// of it.
Result<void> write_file(const std::string& path, std::string_view option, std::string_view text);

}  // namespace fathom::cli
