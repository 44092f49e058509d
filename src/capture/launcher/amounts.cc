// Parses durations and sizes of the command line.
#include "capture/launcher/amounts.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace fathom::capture {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimes = {Unit{"", 1e9},     Unit{"ns", 1},    Unit{"us", 1e3},
                               Unit{"µs", 1e3},   Unit{"ms", 1e6},  Unit{"s", 1e9},
                               Unit{"sec", 1e9},  Unit{"m", 60e9},  Unit{"min", 60e9},
                               Unit{"h", 3600e9}, Unit{"d", 864e11}};

constexpr double kKibi = 1024;
constexpr std::array kSizes = {Unit{"", 1},
                               Unit{"B", 1},
                               Unit{"kB", 1e3},
                               Unit{"KB", 1e3},
                               Unit{"MB", 1e6},
                               Unit{"GB", 1e9},
                               Unit{"TB", 1e12},
                               Unit{"k", kKibi},
                               Unit{"K", kKibi},
                               Unit{"KiB", kKibi},
                               Unit{"M", kKibi* kKibi},
                               Unit{"MiB", kKibi* kKibi},
                               Unit{"G", kKibi* kKibi* kKibi},
                               Unit{"GiB", kKibi* kKibi* kKibi},
                               Unit{"T", kKibi* kKibi* kKibi* kKibi},
                               Unit{"TiB", kKibi* kKibi* kKibi* kKibi}};

/// The amount in the smallest unit; nothing for anything but a number of at least 0 and a known
/// unit, or for what 64 bits do not hold.
template <std::size_t N>
std::optional<std::int64_t> amount(std::string_view text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view unit(parsed.ptr,
                        static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    const double value = std::round(number * known.factor);
    if (value >= 9e18) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (const auto ns = amount(text, kTimes)) return duration_ns(*ns);
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) + "' is not a duration such as 30s, 500ms or 2min"};
}

Result<std::int64_t> parse_size(std::string_view text) {
  if (const auto bytes = amount(text, kSizes)) return *bytes;
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) + "' is not a size such as 256MB, 4GiB or 65536"};
}

}  // namespace fathom::capture
