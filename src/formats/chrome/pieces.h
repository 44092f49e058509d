// The input cut into pieces that probably begin and end between two events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace fathom::chrome {

/// A stretch of the input, with json::kPadding zero bytes behind it. Reused: the buffer only grows.
class Piece {
 public:
  [[nodiscard]] const char* begin() const { return buffer_.get(); }
  [[nodiscard]] const char* end() const { return buffer_.get() + size_; }
  [[nodiscard]] std::uint64_t offset() const {
    return offset_;
  }  ///< Of begin() in the uncompressed input.
  [[nodiscard]] std::uint64_t number() const {
    return number_;
  }  ///< 0, 1, 2, … in the order of the input.
  [[nodiscard]] bool last() const { return last_; }

 private:
  friend class PieceCutter;
  void reserve(std::size_t bytes);
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;
  bool last_ = false;
};

/// Cuts where "}, {" suggests that one event ends and another begins. It may be wrong (the same
/// text can stand in a string or a nested list): who reads the pieces must check that each began
/// where the one before stopped.
class PieceCutter {
 public:
  /// `source` must outlive the cutter.
  explicit PieceCutter(ByteSource& source, std::size_t piece_bytes)
      : source_(source), piece_bytes_(read_size(source, piece_bytes)) {}

  /// Fills `piece` with the next stretch; false when the input is used up. One caller at a time.
  Result<bool> next(Piece& piece);

 private:
  ByteSource& source_;
  std::size_t piece_bytes_;
  std::string rest_;  // cut off from the piece before
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace fathom::chrome
