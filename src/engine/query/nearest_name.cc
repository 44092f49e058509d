// Finds the slice name closest to a mistyped one.
#include "engine/query/nearest_name.h"

#include <algorithm>
#include <vector>

#include "engine/query/nearest.h"

namespace fathom {

std::string_view nearest_slice_name(const Trace& trace, std::string_view word) {
  constexpr std::size_t kShortestWord = 3;
  if (word.size() < kShortestWord) return {};
  std::vector<bool> used(trace.strings.size());
  for (const StringId name : trace.slices.name) used[name.row()] = true;
  std::vector<std::string_view> names;
  for (std::size_t row = 0; row < used.size(); ++row) {
    const std::string_view name = trace.strings.view(StringId(row));
    if (used[row] && name != word) names.push_back(name);
  }
  std::ranges::sort(names);
  return nearest(word, names);
}

}  // namespace fathom
