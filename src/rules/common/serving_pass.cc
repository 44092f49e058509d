// Reads annotations of servers that generate text.
#include "rules/common/serving_pass.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

namespace fathom {
namespace {

/// The number behind `word` in "…context_9(sq…", or nothing.
std::optional<std::int64_t> number_after(std::string_view name, std::string_view word) {
  const std::size_t at = name.find(word);
  if (at == name.npos) return {};
  std::int64_t number = 0;
  const char* const begin = name.data() + at + word.size();
  const auto result = std::from_chars(begin, name.data() + name.size(), number);
  return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

Pass pass_of_annotation(std::string_view name) {
  const auto prompts = number_after(name, "context_");
  const auto tokens = number_after(name, "generation_");
  if (prompts && tokens) {
    if (*prompts > 0) return *tokens > 0 ? Pass::mixed : Pass::prefill;
    return *tokens > 0 ? Pass::decode : Pass::unknown;
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool prefill = lower.find("prefill") != lower.npos || lower.find("[extend") != lower.npos;
  const bool decode = lower.find("decode ") != lower.npos || lower.ends_with("decode");
  if (prefill == decode) return Pass::unknown;
  return prefill ? Pass::prefill : Pass::decode;
}

}  // namespace fathom
