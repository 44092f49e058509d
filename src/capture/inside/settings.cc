// Reads the recorder's settings from the environment.
#include "capture/inside/settings.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "wire/writer.h"

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

/// What follows the key and its colon; empty where there is none.
std::string_view value_of(std::string_view json, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  for (std::size_t at = json.find(quoted); at != std::string_view::npos;
       at = json.find(quoted, at + 1)) {
    const std::string_view rest = after_spaces(json.substr(at + quoted.size()));
    if (rest.starts_with(':')) return after_spaces(rest.substr(1));
    // Else a value that reads the same.
  }
  return {};
}

/// After a backslash; goes past what it takes.
void append_escape(std::string_view& rest, std::string& text) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  constexpr std::size_t kDigits = 4;
  const char letter = rest.front();
  rest.remove_prefix(1);
  const std::size_t at = kLetters.find(letter);
  if (at != std::string_view::npos) {
    text.push_back(kMeanings[at]);
  } else if (letter == 'u' && rest.size() >= kDigits) {
    std::uint32_t character = 0;
    std::from_chars(rest.data(), rest.data() + kDigits, character, 16);
    append_utf8(text, character);
    rest.remove_prefix(kDigits);
  } else {
    text.push_back(letter);
  }
}

/// Those of the launcher's defaults that ask for nothing: torch's profiler has its own way
/// with them, and annotations are recorded in all steps.
std::optional<schedule> steps_in(std::string_view options) {
  constexpr int kMost = 1'000'000'000;
  const schedule usual{.wait = 1, .warmup = 1, .active = 3, .repeat = 1, .skip_first = 0};
  const auto number = [&](std::string_view key, int otherwise) {
    const double value = number_in(options, key, otherwise);
    return value >= 0 && value <= kMost ? static_cast<int>(value) : otherwise;
  };
  const schedule asked{.wait = number("wait", usual.wait),
                       .warmup = number("warmup", usual.warmup),
                       .active = number("active", usual.active),
                       .repeat = number("repeat", usual.repeat),
                       .skip_first = number("skip_first", usual.skip_first)};
  const bool differs = asked.wait != usual.wait || asked.warmup != usual.warmup ||
                       asked.active != usual.active || asked.repeat != usual.repeat ||
                       asked.skip_first != usual.skip_first;
  return differs ? std::optional(asked) : std::nullopt;
}

}  // namespace

double number_in(std::string_view json, std::string_view key, double otherwise) {
  const std::string_view rest = value_of(json, key);
  if (rest.starts_with("true")) return 1;
  if (rest.starts_with("false")) return 0;
  double value = 0;
  const auto done = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return done.ec == std::errc() && std::isfinite(value) ? value : otherwise;
}

std::string text_in(std::string_view json, std::string_view key) {
  std::string_view rest = value_of(json, key);
  std::string text;
  if (!rest.starts_with('"')) return text;
  for (rest.remove_prefix(1); !rest.empty() && rest.front() != '"';) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\' && !rest.empty()) {
      append_escape(rest, text);
    } else {
      text.push_back(c);
    }
  }
  return text;
}

std::int64_t process_start_ns() {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  constexpr int kStartTime = 22;  // its place in the line, from 1
  const std::int64_t now = wire::monotonic_ns();
  char line[1024] = {};
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return now;
  const ssize_t got = read(file, line, sizeof line - 1);
  close(file);
  // The command, which may hold anything, stands in brackets as the second.
  const char* at = got > 0 ? std::strrchr(line, ')') : nullptr;
  for (int place = 2; at != nullptr && place < kStartTime; ++place) at = std::strchr(at + 1, ' ');
  timespec boot{};
  if (at == nullptr || clock_gettime(CLOCK_BOOTTIME, &boot) != 0) return now;
  const std::int64_t ticks = std::strtoll(at + 1, nullptr, 10);
  const std::int64_t age =
      boot.tv_sec * kNsPerSecond + boot.tv_nsec - ticks * (kNsPerSecond / sysconf(_SC_CLK_TCK));
  return age >= 0 ? now - age : now;
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
  const auto seconds = [&](std::string_view key) -> std::optional<std::int64_t> {
    constexpr double kMostSeconds = 1e9;
    const double value = number_in(options, key, -1);
    if (value < 0 || value > kMostSeconds) return {};
    return static_cast<std::int64_t>(value * kNsPerSecond);
  };
  settings.last_ns = seconds("last_s").value_or(0);
  settings.delay_ns = seconds("delay_s").value_or(0);
  settings.duration_ns = seconds("duration_s");
  settings.range = text_in(options, "range");
  settings.steps = steps_in(options);
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
