// The settings that the launcher gave this process, by environment variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fathom/profile.h>

namespace fathom::inside {

struct Settings {
  std::string session;  ///< Folder; empty: this process is not being captured.
  bool from_start = true;
  std::size_t max_memory_bytes = std::size_t{256} << 20;
  std::uint64_t max_size_bytes = std::uint64_t{4} << 30;
  std::int64_t last_ns = 0;   ///< Ring; 0: none.
  std::int64_t delay_ns = 0;  ///< From the start of the process on.
  std::optional<std::int64_t> duration_ns;
  std::string range;  ///< Only inside of annotations of this name; empty: everywhere.
  /// Which steps, or occurrences of the range, are kept. Unset: all, as nobody asked for some.
  std::optional<schedule> steps;
};

/// FATHOM_SESSION and FATHOM_OPTIONS.
Settings settings_of_environment();

/// The number, or 0 and 1 for false and true, that a key has in a JSON object; `otherwise` where it
/// has none.
double number_in(std::string_view json, std::string_view key, double otherwise);

/// The text that a key has in a JSON object, "" where it has none.
std::string text_in(std::string_view json, std::string_view key);

/// When this process began, on CLOCK_MONOTONIC to ten milliseconds; now where that is not known.
std::int64_t process_start_ns();

/// The rank of this process among those of a distributed program, -1 where there is none.
std::int32_t rank_of_environment();

}  // namespace fathom::inside
