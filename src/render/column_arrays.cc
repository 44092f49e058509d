// Turns rows of values into one array per column.
#include "render/column_arrays.h"

#include <cmath>
#include <limits>

#include "render/json.h"
#include "render/utf8.h"

namespace fathom {
namespace {

ColumnArray::Values no_values(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::text:
    case ColumnKind::name:
      return TextArray{};
    case ColumnKind::real:
    case ColumnKind::percent:
      return std::vector<double>();
    case ColumnKind::flag:
      return FlagArray{};
    default:
      return std::vector<std::int64_t>();
  }
}

void add_bit(std::vector<std::uint8_t>& bits, std::size_t row, bool set) {
  if (row % 8 == 0) bits.push_back(0);
  if (set) bits.back() = static_cast<std::uint8_t>(bits.back() | (1U << (row % 8)));
}

/// Appends one value; false where it is null or does not fit the type.
struct Append {
  const Value& value;
  std::size_t row;

  bool operator()(std::vector<std::int64_t>& out) const {
    const auto* integer = std::get_if<std::int64_t>(&value);
    out.push_back(integer == nullptr ? 0 : *integer);
    return integer != nullptr;
  }
  bool operator()(std::vector<double>& out) const {
    double number = std::numeric_limits<double>::quiet_NaN();
    if (const auto* real = std::get_if<double>(&value)) number = *real;
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      number = static_cast<double>(*integer);
    const bool finite = std::isfinite(number);  // JSON knows no others either
    out.push_back(finite ? number : std::numeric_limits<double>::quiet_NaN());
    return finite;
  }
  bool operator()(FlagArray& out) const {
    const auto* flag = std::get_if<bool>(&value);
    const bool set = flag != nullptr && *flag;
    out.bytes.push_back(set ? 1 : 0);
    add_bit(out.bits, row, set);
    return flag != nullptr;
  }
  bool operator()(TextArray& out) const {
    const bool null = std::holds_alternative<std::monostate>(value);
    if (const auto* text = std::get_if<std::string>(&value)) {
      out.bytes += valid_utf8(*text);
    } else if (!null) {
      out.bytes += json_value(value);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.bytes.size()));
    return !null;
  }
};

ColumnArray column_array(const View& view, std::size_t column) {
  ColumnArray array{.spec = view.columns[column],
                    .length = static_cast<std::int64_t>(view.table.rows.size()),
                    .nulls = 0,
                    .valid = {},
                    .values = no_values(view.columns[column].kind)};
  for (std::size_t row = 0; row < view.table.rows.size(); ++row) {
    const bool valid = std::visit(Append{view.table.rows[row][column], row}, array.values);
    add_bit(array.valid, row, valid);
    if (!valid) ++array.nulls;
  }
  if (array.nulls == 0) array.valid.clear();
  return array;
}

}  // namespace

std::vector<ColumnArray> column_arrays(const View& view) {
  std::vector<ColumnArray> arrays;
  arrays.reserve(view.columns.size());
  for (std::size_t column = 0; column < view.columns.size(); ++column) {
    arrays.push_back(column_array(view, column));
  }
  return arrays;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    out += c.valid ? text.substr(at, c.bytes) : std::string_view("\xEF\xBF\xBD");
    at += c.bytes;
  }
  return out;
}

}  // namespace fathom
