// Paths of a tree as an indented list.
#pragma once

#include <string>
#include <vector>

namespace fathom {

/// Paths ("a", "a/b", "a/b/c") in the order of a walk become "a", "  b", "    c"; a part whose own
/// row is missing stays in front ("  b/c"). Left alone when the rows are in any other order.
void indent_tree(std::vector<std::string>& paths);

}  // namespace fathom
