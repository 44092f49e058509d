// Formats durations, bytes, percentages and counts for people.
#include "base/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

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
  return (std::fabs(number) >= 999.95 ? count_text(std::llround(number)) : significant(number)) +
         ' ' + std::string(unit);
}

}  // namespace

std::string count_text(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string duration_text(Duration duration) {
  const std::int64_t ns = to_ns(duration);
  const auto size = std::fabs(static_cast<double>(ns));
  const auto number = static_cast<double>(ns);
  if (ns == 0) return "0 ns";
  if (size < 1e3) return std::to_string(ns) + " ns";
  if (size < 999.95e3) return scaled(number / 1e3, "µs");
  if (size < 999.95e6) return scaled(number / 1e6, "ms");
  return scaled(number / 1e9, "s");
}

std::string bytes_text(std::int64_t bytes) {
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

std::string real_text(double number) {
  if (!std::isfinite(number)) return std::string(kNoValue);
  if (number < 0) return "−" + real_text(-number);
  if (number == 0) return "0";
  if (number >= 1e15 || number < 1e-3) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.3e", number);
    return text.data();
  }
  return number >= 999.95 ? count_text(std::llround(number)) : significant(number);
}

std::string percent_text(double percent) {
  if (!std::isfinite(percent)) return std::string(kNoValue);
  if (percent < 0 && percent > -0.005) return "> −0.01 %";
  if (percent < 0) return "−" + percent_text(-percent);
  if (percent != 0 && percent < 0.005) return "< 0.01 %";
  std::array<char, 40> text{};
  const int decimals = percent != 0 && percent < 0.095 ? 2 : 1;
  std::snprintf(text.data(), text.size(), "%.*f %%", decimals, percent);
  return text.data();
}

}  // namespace fathom
