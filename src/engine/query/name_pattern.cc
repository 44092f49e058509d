// Matches names by POSIX regexec: std::regex recurses per character, and names in a trace may be of
// any length.
#include "engine/query/name_pattern.h"

#include <array>

#include <regex.h>

#include "base/out_of_memory.h"

namespace fathom {

struct NamePattern::State {
  regex_t regex{};
  bool compiled = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (compiled) regfree(&regex);
  }
};

NamePattern::NamePattern(std::unique_ptr<State> state) : state_(std::move(state)) {}
NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;
NamePattern::~NamePattern() = default;

Result<NamePattern> NamePattern::parse(const std::string& expression) {
  auto state = std::make_unique<State>();
  const int failed = regcomp(&state->regex, expression.c_str(), REG_EXTENDED | REG_ICASE);
  if (failed == REG_ESPACE) throw OutOfMemory(0);
  if (failed != 0) {
    std::array<char, 200> why{};
    regerror(failed, &state->regex, why.data(), why.size());
    return Error{ErrorCode::invalid_argument,
                 "'" + expression + "' is not a regular expression: " + why.data()};
  }
  state->compiled = true;
  return NamePattern(std::move(state));
}

bool NamePattern::matches(std::string_view name) const {
  // A failing match costs the square of the length.
  constexpr std::size_t kMatchedBytes = 4096;
  const std::string head(name.substr(0, kMatchedBytes));
  regmatch_t range{};
  range.rm_eo = static_cast<regoff_t>(head.size());
  const int result = regexec(&state_->regex, head.c_str(), 1, &range, REG_STARTEND);
  if (result == REG_ESPACE) throw OutOfMemory(0);
  return result == 0;
}

}  // namespace fathom
