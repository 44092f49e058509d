// Writes paths of a tree as an indented list.
#include "render/tree_text.h"

#include <string_view>
#include <unordered_set>

namespace fathom {
namespace {

constexpr char kSeparator = '/';

/// The nearest path above that has a row, or "".
std::string_view parent_of(std::string_view path,
                           const std::unordered_set<std::string_view>& paths) {
  for (std::size_t end = path.rfind(kSeparator); end != std::string_view::npos && end != 0;
       end = path.rfind(kSeparator, end - 1)) {
    if (paths.contains(path.substr(0, end))) return path.substr(0, end);
  }
  return {};
}

}  // namespace

void indent_tree(std::vector<std::string>& paths) {
  const std::unordered_set<std::string_view> known(paths.begin(), paths.end());
  std::vector<std::string_view> above;  // from the outermost to the row before
  std::vector<std::string> shown;
  for (const std::string& path : paths) {
    const std::string_view parent = parent_of(path, known);
    while (!above.empty() && above.back() != parent) above.pop_back();
    if (above.empty() && !parent.empty()) return;
    const std::size_t begin = parent.empty() ? 0 : parent.size() + 1;
    shown.push_back(std::string(2 * above.size(), ' ') + path.substr(begin));
    above.emplace_back(path);
  }
  paths = std::move(shown);
}

}  // namespace fathom
