// Writes tables as CSV.
#include "render/csv.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fathom {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
  return out;
}

std::string field(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string_view>(&value)) return field(*text);
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !std::isfinite(*real)) return {};
  std::array<char, 40> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), *real);
  return std::string(text.data(), written.ptr);
}

}  // namespace

std::string csv_header(const View& view, bool with_input) {
  std::string out = with_input ? "input" : "";
  for (const ColumnSpec& column : view.columns()) {
    if (!out.empty()) out += ',';
    out += field(column.name);
  }
  out += kLineEnd;
  return out;
}

std::string csv_rows(const View& view, bool with_input) {
  std::string out;
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    if (with_input) out += field(std::string_view(view.input));
    for (std::size_t i = 0; i < view.columns().size(); ++i) {
      if (with_input || i != 0) out += ',';
      out += field(view.table.at(row, i));
    }
    out += kLineEnd;
  }
  return out;
}

}  // namespace fathom
