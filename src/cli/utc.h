// The time of day for files that are kept.
#pragma once

#include <array>
#include <ctime>
#include <string>

namespace fathom::cli {

/// "2026-11-23T20:50:00Z".
inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace fathom::cli
