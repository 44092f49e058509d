// TextLines: a text from its source, line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"

namespace fathom {

/// Reads the source from its beginning; holds one line at a time.
class TextLines {
 public:
  /// A longer line is cut here: stacks of 4,096 frames with names of 250 characters are shorter.
  static constexpr std::size_t kLongest = std::size_t{1} << 20U;

  explicit TextLines(ByteSource& source);

  /// The next line without its break, valid until the next call. Unset at the end.
  std::optional<std::string_view> next();
  /// Where the line that next() returned begins.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Was that line longer than kLongest?
  [[nodiscard]] bool was_cut() const { return cut_; }
  /// How many bytes were read.
  [[nodiscard]] std::uint64_t bytes() const { return base_ + at_; }
  /// What went wrong with the source itself.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  bool fill();

  ByteSource& source_;
  std::string buffer_;
  std::size_t piece_;
  std::size_t at_ = 0;      // in the buffer: what comes next
  std::uint64_t base_ = 0;  // of the buffer in the text
  std::uint64_t offset_ = 0;
  std::string line_;  // one that lies in several pieces
  bool over_ = false;
  bool cut_ = false;
  std::optional<Error> error_;
};

}  // namespace fathom
