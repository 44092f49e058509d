// Formats numbers for people.
#include "render/units.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "render/text_width.h"

namespace fathom {
namespace {

/// Four significant digits for |number| < 10^4, whole digits above; trailing zeros stay: they
/// align.
std::string significant(double number) {
  const double size = std::fabs(number);
  // The bounds are where rounding would carry into the next digit: 9.9996 is 10.00, not 10.000.
  const int decimals = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

std::string scaled(double number, std::string_view unit) {
  return (std::fabs(number) >= 999.95 ? format_count(std::llround(number)) : significant(number)) +
         ' ' + std::string(unit);
}

}  // namespace

std::string format_count(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_duration(std::int64_t ns) {
  const auto size = std::fabs(static_cast<double>(ns));
  const auto number = static_cast<double>(ns);
  if (ns == 0) return "0 ns";
  if (size < 1e3) return std::to_string(ns) + " ns";
  if (size < 999.95e3) return scaled(number / 1e3, "µs");
  if (size < 999.95e6) return scaled(number / 1e6, "ms");
  return scaled(number / 1e9, "s ");
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::fabs(number) >= 1024 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  if (number == std::floor(number))
    return std::to_string(std::llround(number)) + ' ' + std::string(kUnits[unit]);
  return significant(number) + ' ' + std::string(kUnits[unit]);
}

std::string format_real(double number) {
  if (!std::isfinite(number)) return std::string(kNoValue);
  const double size = std::fabs(number);
  if (number == 0) return "0";
  if (size >= 1e15 || size < 1e-3) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.3e", number);
    return text.data();
  }
  return size >= 999.95 ? format_count(std::llround(number)) : significant(number);
}

std::string format_percent(double percent) {
  if (!std::isfinite(percent)) return std::string(kNoValue);
  const double size = std::fabs(percent);
  if (size != 0 && size < 0.005) return percent < 0 ? "> −0.01 %" : "< 0.01 %";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*f %%", size != 0 && size < 0.095 ? 2 : 1, percent);
  return text.data();
}

std::string format_value(const Value& value, ColumnKind kind) {
  if (std::holds_alternative<std::monostate>(value)) return std::string(kNoValue);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&value)) return printable(*text);
  if (const auto* real = std::get_if<double>(&value)) {
    switch (kind) {
      case ColumnKind::percent:
        return format_percent(*real);
      case ColumnKind::duration_ns:
      case ColumnKind::time_ns:
        return format_duration(std::llround(*real));
      case ColumnKind::bytes:
        return format_bytes(std::llround(*real));
      default:
        return format_real(*real);
    }
  }
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (kind) {
    case ColumnKind::count:
      return format_count(number);
    case ColumnKind::duration_ns:
    case ColumnKind::time_ns:
      return format_duration(number);
    case ColumnKind::bytes:
      return format_bytes(number);
    case ColumnKind::percent:
      return format_percent(static_cast<double>(number));
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
  if (column.kind == ColumnKind::real && !column.unit.empty()) text = std::string(column.unit);
  return text;
}

}  // namespace fathom
