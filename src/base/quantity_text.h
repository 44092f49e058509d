// Quantities as people read them: µs and MiB, thousands separators, four significant digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fathom {

/// What stands for a value that does not apply or was not recorded.
inline constexpr std::string_view kNoValue = "–";

/// "850 ns", "12.34 µs", "1.235 s".
std::string duration_text(Duration duration);
/// "512 B", "4 KiB", "1.5 GiB".
std::string bytes_text(std::int64_t bytes);
/// "1,234,567".
std::string count_text(std::int64_t number);
/// Four significant digits, no exponent between 0.001 and 10^15.
std::string real_text(double number);
/// "29.8 %"; small shares keep a digit: "0.04 %".
std::string percent_text(double percent);

}  // namespace fathom
