// Cuts lists of arguments at their last comma.
#include "compare/result_argument.h"

#include <cstddef>

namespace fathom {

std::string without_last(std::string_view list) {
  if (list.empty()) return {};  // not recorded
  std::size_t depth = 0;
  bool in_text = false;
  std::size_t last = 0;  // where the last element begins, or the comma before it
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '[' && ++depth == 1) last = i + 1;
    if (c == ']' && depth > 0) --depth;
    if (c == ',' && depth == 1) last = i;
  }
  return std::string(list.substr(0, last)) + "]";
}

bool same_but_result(std::string_view one, std::string_view other) {
  if (one.size() < other.size()) return same_but_result(other, one);
  return one.size() > other.size() && without_last(one) == other;
}

bool ends_with_tensor(std::string_view shapes) {
  return shapes.ends_with("]]") && !shapes.ends_with("[]]");
}

}  // namespace fathom
