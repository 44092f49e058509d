// Orders operators by their time.
#include "rules/common/costliest_names.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/quantity_text.h"
#include "rules/common/counted.h"

namespace fathom {

std::string costliest_names(const RuleContext& rules,
                            std::vector<std::pair<Duration, StringId>> times) {
  constexpr std::size_t kMost = 3;
  const auto name_of = [&rules](const auto& each) { return rules.trace().text(each.second); };
  std::ranges::sort(times, [&](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first : name_of(one) > name_of(other);
  });
  if (times.size() > kMost) times.resize(kMost);
  std::string text;
  for (const auto& each : times) {
    if (!text.empty()) text += ", ";
    text += std::string(name_of(each)) + ' ' + duration_text(each.first / step_count(rules));
  }
  return text;
}

}  // namespace fathom
