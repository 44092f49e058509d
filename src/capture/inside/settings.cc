// The launcher's JSON is flat where we look, so that looking for a key is enough.
#include "capture/inside/settings.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace fathom::inside {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view after_spaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  return text;
}

}  // namespace

double number_in(std::string_view json, std::string_view key, double otherwise) {
  const std::string quoted = '"' + std::string(key) + '"';
  for (std::size_t at = json.find(quoted); at != std::string_view::npos;
       at = json.find(quoted, at + 1)) {
    std::string_view rest = after_spaces(json.substr(at + quoted.size()));
    if (!rest.starts_with(':')) continue;  // a value that reads the same
    rest = after_spaces(rest.substr(1));
    if (rest.starts_with("true")) return 1;
    if (rest.starts_with("false")) return 0;
    double value = 0;
    const auto done = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return done.ec == std::errc() && std::isfinite(value) ? value : otherwise;
  }
  return otherwise;
}

Settings settings_of_environment() {
  Settings settings;
  settings.session = variable("FATHOM_SESSION");
  const std::string_view options = variable("FATHOM_OPTIONS");
  const auto number = [&](std::string_view key, double otherwise, double least) {
    const double value = number_in(options, key, otherwise);
    return value >= least && value < 1e18 ? value : otherwise;
  };
  constexpr double kLeastMemory = 1 << 20;
  constexpr double kNsPerSecond = 1e9;
  settings.from_start = number("from_start", 1, 0) != 0;
  settings.max_memory_bytes = static_cast<std::size_t>(
      number("max_memory_bytes", static_cast<double>(settings.max_memory_bytes), kLeastMemory));
  settings.max_size_bytes = static_cast<std::uint64_t>(
      number("max_size_bytes", static_cast<double>(settings.max_size_bytes), 0));
  settings.last_ns = static_cast<std::int64_t>(number("last_s", 0, 0) * kNsPerSecond);
  return settings;
}

std::int32_t rank_of_environment() {
  for (const char* const name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const std::string_view text = variable(name);
    std::int32_t rank = -1;
    const auto done = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (!text.empty() && done.ec == std::errc() && done.ptr == text.data() + text.size() &&
        rank >= 0)
      return rank;
  }
  return -1;
}

}  // namespace fathom::inside
