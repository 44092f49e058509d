// File: where blocks go. One write per block, and what the system may answer to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::wire {

/// An append-only file. Nothing throws.
class File {
 public:
  File() = default;
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  /// Makes the file, replacing one that is there. Errors: io.
  static Result<File> create(const std::string& path);
  /// The same without a message, so that it needs no memory: not open where it could not be made.
  static File make(const char* path) noexcept;

  /// Appends all or nothing, as far as the system lets us take back a part: a full disk may leave
  /// one behind, which readers skip. Goes on after signals and short writes.
  bool append(std::string_view bytes) noexcept;
  /// False when the system reports a late failure.
  bool close() noexcept;
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace fathom::wire
