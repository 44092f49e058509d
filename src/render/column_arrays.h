// A computed table as flat arrays, one per column, laid out as Arrow has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/session.h"

namespace fathom {

/// Text of all rows in one piece; row i is [offsets[i], offsets[i + 1]).
struct TextArray {
  std::vector<std::int64_t> offsets = {0};
  std::string bytes;  ///< UTF-8: what was not is U+FFFD.
};
/// Yes and no, once as a byte per row, once as a bit.
struct FlagArray {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> bits;  ///< Least significant first.
};

/// One column. Its type follows from the column's kind alone, so it is the same for every trace:
/// integers for integer, count, duration_ns, time_ns and bytes; doubles for real and percent;
/// flags; text for text and name. A number in a column of text is written out as in JSON.
struct ColumnArray {
  using Values = std::variant<std::vector<std::int64_t>, std::vector<double>, FlagArray, TextArray>;

  ColumnSpec spec;
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  /// A bit per row, least significant first; empty where nothing is null.
  std::vector<std::uint8_t> valid;
  Values values;  ///< At a null: 0, not-a-number, no, or the empty text.
};

/// The columns of `view`, in its order. O(cells).
std::vector<ColumnArray> column_arrays(const View& view);

/// The same text, with U+FFFD for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace fathom
