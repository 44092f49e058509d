// Lays texts end to end, and packs flags into bits.
#include "render/column_arrays.h"

#include "base/utf8.h"
#include "render/json.h"

namespace fathom {

TextArray text_array(const Table& table, std::size_t column) {
  TextArray array;
  array.offsets.reserve(table.rows() + 1);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Value value = table.at(row, column);
    if (const auto* const text = std::get_if<std::string_view>(&value)) {
      array.bytes += valid_utf8(*text);
    } else if (!is_null(value)) {
      array.bytes += json_value(value);
    }
    array.offsets.push_back(static_cast<std::int64_t>(array.bytes.size()));
  }
  return array;
}

std::vector<std::uint8_t> flag_bits(const ColumnData::Flags& flags) {
  std::vector<std::uint8_t> bits((flags.bytes.size() + 7) / 8);
  for (std::size_t row = 0; row < flags.bytes.size(); ++row)
    bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | flags.bytes[row] << (row % 8));
  return bits;
}

}  // namespace fathom
