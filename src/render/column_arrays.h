// What Arrow wants of a table's columns that does not lie in memory its way: texts and flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session.h"

namespace fathom {

/// Text of all rows in one piece; row i is [offsets[i], offsets[i + 1]).
struct TextArray {
  std::vector<std::int64_t> offsets = {0};
  std::string bytes;  ///< UTF-8: what was not is U+FFFD.
};

/// A column of kind text or name. Empty at a null; a number is written out as in JSON.
TextArray text_array(const Table& table, std::size_t column);

/// A bit per row of a column of flags, least significant first; 0 at a null.
std::vector<std::uint8_t> flag_bits(const ColumnData::Flags& flags);

}  // namespace fathom
