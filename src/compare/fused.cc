// Looks the words of a kernel's name up among operators, the longest first.
#include "compare/fused.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compare/components.h"

namespace fathom {
namespace {

using Rows = std::vector<const ProfileRow*>;

/// "native_group_norm_backward" has four words, few operators more than six.
constexpr std::size_t kMostWords = 6;

/// "aten::_to_copy" and "aten::add_" as kernels list them: "to_copy", "add".
std::string_view listed_as(std::string_view op) {
  const std::size_t space = op.rfind(':');
  if (space != std::string_view::npos) op.remove_prefix(space + 1);
  while (op.starts_with('_')) op.remove_prefix(1);
  while (op.ends_with('_')) op.remove_suffix(1);
  return op;
}

/// All lists of a row: its operator is the kernel's range, or has kernels with such names.
std::vector<std::string_view> lists_of(const ProfileRow& row) {
  std::vector<std::string_view> lists;
  const auto add = [&lists](std::string_view name) {
    if (const std::string_view list = fused_list(name); !list.empty()) lists.push_back(list);
  };
  add(row.key.op.view());
  for (const KernelTime& kernel : row.kernels) add(kernel.name.view());
  return lists;
}

/// Where the words of a text begin, and its end.
std::vector<std::size_t> word_bounds(std::string_view text) {
  std::vector<std::size_t> bounds;
  for (std::size_t i = 0; i <= text.size(); ++i)
    if (i == 0 || i == text.size() || text[i - 1] == '_') bounds.push_back(i);
  return bounds;
}

/// Operators of one side that are written alike.
using Operators = std::map<std::string_view, Rows>;

/// Calls found(operator) for each that the list names, the longest that fits at each word.
template <typename Found>
void for_each_listed(std::string_view list, const Operators& operators, const Found& found) {
  const std::vector<std::size_t> bounds = word_bounds(list);
  for (std::size_t word = 0; word + 1 < bounds.size();) {
    std::size_t taken = 1;
    for (std::size_t words = std::min(kMostWords, bounds.size() - 1 - word); words > 0; --words) {
      std::string_view text = list.substr(bounds[word], bounds[word + words] - bounds[word]);
      if (text.ends_with('_')) text.remove_suffix(1);
      const auto at = operators.find(text);
      if (at == operators.end()) continue;
      found(at->first);
      taken = words;
      break;
    }
    word += taken;
  }
}

struct Replaced {
  Rows operators;
  Rows kernels;
};

/// `kernels` are rows of the other side.
std::vector<Replaced> replaced(const Rows& rows, const Rows& kernels) {
  if (kernels.empty()) return {};
  Operators operators;
  for (const ProfileRow* const row : rows) {
    if (lists_of(*row).empty() && !row->key.op.empty())
      operators[listed_as(row->key.op.view())].push_back(row);
  }
  operators.erase(std::string_view());
  std::map<std::string_view, std::size_t> place;
  for (const auto& [name, same] : operators) place.emplace(name, kernels.size() + place.size());
  Components components(kernels.size() + place.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (const std::string_view list : lists_of(*kernels[i])) {
      for_each_listed(list, operators,
                      [&](std::string_view name) { components.join(i, place[name]); });
    }
  }
  std::map<std::size_t, Replaced> found;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    found[components.find(i)].kernels.push_back(kernels[i]);
  for (const auto& [name, same] : operators) {
    Rows& into = found[components.find(place[name])].operators;
    into.insert(into.end(), same.begin(), same.end());
  }
  std::vector<Replaced> out;
  for (auto& [root, each] : found)
    if (!each.kernels.empty() && !each.operators.empty()) out.push_back(std::move(each));
  return out;
}

Rows kernels_among(const Rows& rows) {
  Rows out;
  std::ranges::copy_if(rows, std::back_inserter(out),
                       [](const ProfileRow* row) { return !lists_of(*row).empty(); });
  return out;
}

}  // namespace

std::string_view fused_list(std::string_view name) {
  constexpr std::string_view kFused = "fused_";
  const std::size_t at = name.find(kFused);
  const bool generated =
      name.starts_with("triton_") || name.find("cpp_fused_") != std::string_view::npos;
  return generated && at != std::string_view::npos ? name.substr(at + kFused.size())
                                                   : std::string_view();
}

std::vector<AlignedWork> fused_work(const Rows& base, const Rows& now) {
  std::vector<AlignedWork> out;
  const auto add = [&out](Rows before, Rows after) {
    const AnyBucket bucket = before.front()->key.bucket;
    out.push_back({.alignment = Alignment::fused,
                   .bucket = bucket,
                   .base = std::move(before),
                   .now = std::move(after)});
  };
  for (Replaced& each : replaced(base, kernels_among(now)))
    add(std::move(each.operators), std::move(each.kernels));
  for (Replaced& each : replaced(now, kernels_among(base)))
    add(std::move(each.kernels), std::move(each.operators));
  return out;
}

}  // namespace fathom
