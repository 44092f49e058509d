// Formats values of columns for people.
#include "render/units.h"

#include <cmath>

#include "render/text_width.h"

namespace fathom {

std::string format_duration(std::int64_t ns) {
  std::string text = duration_text(duration_ns(ns));
  if (text.ends_with(" s")) text += ' ';
  return text;
}

std::string format_value(const Value& value, ColumnKind kind) {
  if (std::holds_alternative<std::monostate>(value)) return std::string(kNoValue);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string_view>(&value)) return printable(*text);
  if (const auto* real = std::get_if<double>(&value)) {
    switch (kind) {
      case ColumnKind::percent:
        return percent_text(*real);
      case ColumnKind::duration_ns:
      case ColumnKind::time_ns:
        return format_duration(std::llround(*real));
      case ColumnKind::bytes:
        return bytes_text(std::llround(*real));
      default:
        return real_text(*real);
    }
  }
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (kind) {
    case ColumnKind::count:
      return count_text(number);
    case ColumnKind::duration_ns:
    case ColumnKind::time_ns:
      return format_duration(number);
    case ColumnKind::bytes:
      return bytes_text(number);
    case ColumnKind::percent:
      return percent_text(static_cast<double>(number));
    default:
      return std::to_string(number);
  }
}

std::string format_value_in(const Value& value, std::string_view unit) {
  struct Known {
    std::string_view unit;
    ColumnKind kind;
  };
  constexpr Known kKnown[] = {{"ns", ColumnKind::duration_ns},
                              {"bytes", ColumnKind::bytes},
                              {"percent", ColumnKind::percent},
                              {"count", ColumnKind::count}};
  for (const Known& known : kKnown) {
    if (known.unit == unit) return format_value(value, known.kind);
  }
  std::string text = format_value(value, ColumnKind::real);
  if (!unit.empty() && !std::holds_alternative<std::monostate>(value))
    text += ' ' + std::string(unit);
  return text;
}

std::string heading_of(const ColumnSpec& column) {
  if (column.name == "percent") return "%";
  std::string text(column.name);
  for (const std::string_view suffix : {"_ns", "_bytes"}) {
    if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  }
  if (text.ends_with("_percent")) text.replace(text.size() - 8, 8, " %");
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  // A rate is best named by its unit: "GB/s".
  const bool rate = column.unit.find('/') != std::string_view::npos;
  if (column.kind == ColumnKind::real && rate) text = std::string(column.unit);
  return text;
}

}  // namespace fathom
