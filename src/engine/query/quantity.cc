// Parses numbers with units, step ranges and windows.
#include "engine/query/quantity.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace fathom {
namespace {

struct Unit {
  std::string_view name;
  QuantityKind kind;
  double factor;
};
constexpr Unit kUnits[] = {
    {"ns", QuantityKind::duration, 1},
    {"us", QuantityKind::duration, 1e3},
    {"µs", QuantityKind::duration, 1e3},  // U+00B5, the micro sign
    {"μs", QuantityKind::duration, 1e3},  // U+03BC, the Greek letter
    {"ms", QuantityKind::duration, 1e6},
    {"s", QuantityKind::duration, 1e9},
    {"min", QuantityKind::duration, 60e9},
    {"B", QuantityKind::bytes, 1},
    {"KB", QuantityKind::bytes, 1e3},
    {"kB", QuantityKind::bytes, 1e3},
    {"KiB", QuantityKind::bytes, 1024},
    {"MB", QuantityKind::bytes, 1e6},
    {"MiB", QuantityKind::bytes, 1024.0 * 1024},
    {"GB", QuantityKind::bytes, 1e9},
    {"GiB", QuantityKind::bytes, 1024.0 * 1024 * 1024},
    {"%", QuantityKind::percent, 1},
    {"k", QuantityKind::plain, 1e3},
    {"M", QuantityKind::plain, 1e6},
    {"G", QuantityKind::plain, 1e9},
};

Error refuse(std::string_view text, std::string_view expected) {
  return {ErrorCode::invalid_argument,
          "'" + std::string(text) + "' is not " + std::string(expected)};
}

std::string_view expectation(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::duration:
      return "a duration; write for example 1500, 1.5us, 20ms or 2s";
    case QuantityKind::bytes:
      return "a size; write for example 4096, 4KiB or 1.5GiB";
    case QuantityKind::percent:
      return "a percentage; write for example 20 or 20%";
    default:
      return "a number; write for example 1000 or 1k";
  }
}

struct Split {
  double number = 0;
  std::string_view unit;
  bool ok = false;
};
Split split(std::string_view text) {
  Split result;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), result.number);
  result.ok = parsed.ec == std::errc() && std::isfinite(result.number);
  result.unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  while (result.unit.starts_with(' ')) result.unit.remove_prefix(1);
  return result;
}

Result<std::int64_t> parse_step(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0) {
    return refuse(text, "a step number; write for example --steps 5 or --steps 3-7");
  }
  return number;
}

Result<Duration> parse_bound(std::string_view text) {
  const Split parts = split(text);
  if (parts.ok && parts.unit.empty() && parts.number != 0) {
    return refuse(text, "a time with its unit; write for example --window 10ms:25ms");
  }
  const Result<double> ns = parse_quantity(text, QuantityKind::duration);
  if (!ns) return Error(ns.error());
  constexpr double kLongest = 9e18;
  return duration_ns(
      static_cast<std::int64_t>(std::llround(std::min(std::max(*ns, 0.0), kLongest))));
}

}  // namespace

Result<double> parse_quantity(std::string_view text, QuantityKind kind) {
  const Split parts = split(text);
  if (!parts.ok) return refuse(text, expectation(kind));
  if (parts.unit.empty()) return parts.number;
  for (const Unit& unit : kUnits) {
    if (unit.name == parts.unit && (unit.kind == kind || unit.kind == QuantityKind::plain)) {
      return parts.number * unit.factor;
    }
  }
  return refuse(text, expectation(kind));
}

Result<Selection::StepRange> parse_steps(std::string_view text) {
  const std::size_t dash = text.find('-');
  Selection::StepRange range{0, std::numeric_limits<std::int64_t>::max()};
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  if (first.empty() && last.empty())
    return refuse(text, "a range of steps; write for example --steps 3-7");
  if (!first.empty()) {
    const Result<std::int64_t> number = parse_step(first);
    if (!number) return Error(number.error());
    range.first = *number;
  }
  if (!last.empty()) {
    const Result<std::int64_t> number = parse_step(last);
    if (!number) return Error(number.error());
    range.last = *number;
  }
  if (range.last < range.first)
    return refuse(text, "a range of steps: its end comes before its start");
  return range;
}

Result<WindowRequest> parse_window(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return refuse(text,
                  "a window; write for example --window 10ms:25ms, from the start of the trace");
  }
  WindowRequest window;
  if (colon != 0) {
    const Result<Duration> begin = parse_bound(text.substr(0, colon));
    if (!begin) return Error(begin.error());
    window.begin = *begin;
  }
  if (colon + 1 != text.size()) {
    const Result<Duration> end = parse_bound(text.substr(colon + 1));
    if (!end) return Error(end.error());
    window.end = *end;
  }
  if (window.end <= window.begin) return refuse(text, "a window: it ends before it begins");
  return window;
}

Result<double> parse_rate(std::string_view text) {
  // No power station, and no money, is worse than this per kilowatt-hour.
  constexpr double kMostPerKwh = 1e9;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      value > kMostPerKwh) {
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(text) + "' is not a number from 0 on"};
  }
  return value;
}

}  // namespace fathom
