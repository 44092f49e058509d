// Which values of an enumeration the glossary lacks, for the tests of every room that shows them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/enumerators.h"
#include "engine/glossary.h"

namespace fathom {

/// Has the glossary that word in that kind?
inline bool is_explained(std::string_view kind, std::string_view id) {
  return std::ranges::any_of(find_terms(id), [&](const Term* term) { return term->kind == kind; });
}

/// Of all enumerators, also of those to come, the names that the kind does not have.
template <typename Enum>
std::vector<std::string> unexplained(std::string_view kind) {
  std::vector<std::string> missing;
  for (int i = 0; i < count_enumerators<Enum>(); ++i) {
    const std::string_view id = to_string(static_cast<Enum>(i));
    if (!is_explained(kind, id)) missing.emplace_back(id);
  }
  return missing;
}

}  // namespace fathom
