// Bytes of an input, decompressed by content, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

/// How many bytes sniffers may look at.
inline constexpr std::size_t kSniffBytes = 4096;

/// A stream of uncompressed bytes. One reader at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `out` from the front and returns how many bytes it got; fewer than asked, or 0, only at
  /// the end. Damage in a compressed stream ends it: what came before is returned, damage() says
  /// what happened.
  virtual Result<std::size_t> read(std::span<std::byte> out) = 0;
  /// The first bytes, without consuming them.
  [[nodiscard]] virtual std::span<const std::byte> head() const = 0;
  /// Why the stream ended early, or "".
  [[nodiscard]] virtual std::string_view damage() const { return {}; }
  /// "gzip", "zstd" or "".
  [[nodiscard]] virtual std::string_view compression() const { return {}; }
};

/// How many bytes to read from it at a time: `most`, but of an input that ends within its head no
/// more than shows its end, so that a short file takes no large buffer.
std::size_t read_size(const ByteSource& source, std::size_t most);

class HeldFiles;

/// Opens a file, or standard input for "-"; gzip (also multi-member) and zstd are recognised by
/// content. A file that `held` (or null) has open is taken from there.
Result<std::unique_ptr<ByteSource>> open_source(std::string_view path, HeldFiles* held = nullptr);

/// While it lives, the progress of this thread, if it is watched, counts these files only, and
/// expects all of them at once: so it never goes back. One at a time.
class ExpectedFiles {
 public:
  explicit ExpectedFiles(std::span<const std::string> paths);
  ~ExpectedFiles();
  ExpectedFiles(const ExpectedFiles&) = delete;
  ExpectedFiles& operator=(const ExpectedFiles&) = delete;

  /// A file that was not opened, as its content was at hand or could not be had, counts as read.
  void done(const std::string& path);

 private:
  std::map<std::string, std::uint64_t> unopened_;  ///< And their sizes.
};

/// The bytes of `text`, as if read from a file (also decompressed by content). Borrows: `bytes`
/// must outlive it.
Result<std::unique_ptr<ByteSource>> open_bytes(std::span<const std::byte> bytes);

}  // namespace fathom
