// Counts brackets from the end.
#include "formats/stacks/last_bracket.h"

namespace fathom {

std::size_t last_bracket(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (depth == 0) break;
    if (text[at] == '(' && --depth == 0) return at > 0 && text[at - 1] == ' ' ? at - 1 : text.npos;
  }
  return text.npos;
}

}  // namespace fathom
