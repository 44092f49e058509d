// Every rule. To add one: its declaration, and its line in the table.
#include <algorithm>

#include "rules/rule.h"

namespace fathom {

Rule unfused_optimizer();

std::span<const Rule> all_rules() {
  static const Rule table[] = {
      unfused_optimizer(),
  };
  return table;
}

const Rule* find_rule(std::string_view id) {
  const std::span<const Rule> rules = all_rules();
  const auto at = std::ranges::find(rules, id, &Rule::id);
  return at == rules.end() ? nullptr : &*at;
}

}  // namespace fathom
