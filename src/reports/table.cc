// Appends cells to arrays, and reads them back as values.
#include "reports/table.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace fathom {
namespace {

ColumnData::Values no_values(const ColumnSpec& spec) {
  if (spec.mixed) return ColumnData::Mixed();
  if (is_text(spec.kind)) return ColumnData::Texts();
  if (is_real(spec.kind)) return std::vector<double>();
  if (spec.kind == ColumnKind::flag) return ColumnData::Flags();
  return std::vector<std::int64_t>();
}

Cell cell_from(const Value& value) {
  return std::visit([](const auto& held) { return Cell(held); }, value);
}

/// Appends one value to the array of its type; false where it is null there.
struct Append {
  const Value& value;
  TextPool& texts;

  bool operator()(std::vector<std::int64_t>& out) const {
    const auto* const integer = std::get_if<std::int64_t>(&value);
    out.push_back(integer == nullptr ? 0 : *integer);
    return integer != nullptr;
  }
  bool operator()(std::vector<double>& out) const {
    double number = std::numeric_limits<double>::quiet_NaN();
    if (const auto* const real = std::get_if<double>(&value)) number = *real;
    if (const auto* const integer = std::get_if<std::int64_t>(&value))
      number = static_cast<double>(*integer);
    const bool finite = std::isfinite(number);
    out.push_back(finite ? number : std::numeric_limits<double>::quiet_NaN());
    return finite;
  }
  bool operator()(ColumnData::Flags& out) const {
    const auto* const flag = std::get_if<bool>(&value);
    out.bytes.push_back(flag != nullptr && *flag ? 1 : 0);
    return flag != nullptr;
  }
  bool operator()(ColumnData::Texts& out) const {
    const auto* const text = std::get_if<std::string_view>(&value);
    out.ids.push_back(text == nullptr ? 0 : texts.intern(*text));
    return text != nullptr;
  }
  bool operator()(ColumnData::Mixed& out) const {
    if (const auto* const text = std::get_if<std::string_view>(&value)) {
      out.cells.emplace_back(ColumnData::Mixed::Text{texts.intern(*text)});
    } else if (const auto* const flag = std::get_if<bool>(&value)) {
      out.cells.emplace_back(*flag);
    } else if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
      out.cells.emplace_back(*integer);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      out.cells.emplace_back(*real);
    } else {
      out.cells.emplace_back();
    }
    return !is_null(value);
  }
};

/// Keeps the bits of validity, which begin with the first null.
void count_row(ColumnData& data, bool valid) {
  const std::size_t row = data.rows++;
  if (!valid && data.nulls++ == 0) {
    data.valid.assign(row / 8 + 1, 0xFF);
    data.valid.back() = static_cast<std::uint8_t>((1U << (row % 8)) - 1);
    return;
  }
  if (data.nulls == 0) return;
  if (row % 8 == 0) data.valid.push_back(0);
  if (valid) data.valid.back() = static_cast<std::uint8_t>(data.valid.back() | 1U << (row % 8));
}

struct Reserve {
  std::size_t rows;
  void operator()(ColumnData::Flags& flags) const { flags.bytes.reserve(rows); }
  void operator()(ColumnData::Texts& texts) const { texts.ids.reserve(rows); }
  void operator()(ColumnData::Mixed& mixed) const { mixed.cells.reserve(rows); }
  template <typename T>
  void operator()(std::vector<T>& values) const {
    values.reserve(rows);
  }
};

/// The value of a row that is not null.
struct Read {
  std::size_t row;
  const TextPool& texts;

  Value operator()(const std::vector<std::int64_t>& values) const { return values[row]; }
  Value operator()(const std::vector<double>& values) const { return values[row]; }
  Value operator()(const ColumnData::Flags& flags) const { return flags.bytes[row] != 0; }
  Value operator()(const ColumnData::Texts& of) const { return texts.text(of.ids[row]); }
  Value operator()(const ColumnData::Mixed& mixed) const {
    if (const auto* const text = std::get_if<ColumnData::Mixed::Text>(&mixed.cells[row]))
      return texts.text(text->id);
    if (const auto* const flag = std::get_if<bool>(&mixed.cells[row])) return *flag;
    if (const auto* const real = std::get_if<double>(&mixed.cells[row])) return *real;
    return std::get<std::int64_t>(mixed.cells[row]);
  }
};

}  // namespace

Table::Table(std::vector<ColumnSpec> columns) : specs_(std::move(columns)), data_(specs_.size()) {
  for (std::size_t i = 0; i < specs_.size(); ++i) data_[i].values = no_values(specs_[i]);
}

Value Table::at(std::size_t row, std::size_t column) const {
  const ColumnData& data = data_[column];
  if (data.is_null(row)) return {};
  return std::visit(Read{row, texts_}, data.values);
}

void Table::reserve(std::size_t rows) {
  for (ColumnData& data : data_) std::visit(Reserve{rows}, data.values);
}

void Table::append(std::size_t column, const Cell& cell) {
  ColumnData& data = data_[column];
  count_row(data, std::visit(Append{value_of(cell), texts_}, data.values));
}

void Table::append_row(std::span<const Cell> cells) {
  assert(cells.size() == data_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) append(i, cells[i]);
}

void Table::append_rows(const Table& other, std::size_t begin, std::size_t end, std::size_t first) {
  for (std::size_t column = 0; column < other.data_.size(); ++column) {
    for (std::size_t row = begin; row < end; ++row)
      append(first + column, cell_from(other.at(row, column)));
  }
}

Table Table::slice(std::size_t begin, std::size_t end, std::size_t first) const {
  Table out(
      std::vector<ColumnSpec>(specs_.begin() + static_cast<std::ptrdiff_t>(first), specs_.end()));
  out.reserve(end - begin);
  for (std::size_t column = first; column < data_.size(); ++column) {
    for (std::size_t row = begin; row < end; ++row)
      out.append(column - first, cell_from(at(row, column)));
  }
  return out;
}

}  // namespace fathom
