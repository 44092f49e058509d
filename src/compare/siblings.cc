// Cuts the order of siblings where both sides agree.
#include "compare/siblings.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom {
namespace {

using Rows = std::vector<const ProfileRow*>;

/// Matched work, by its first call on each side.
struct Anchor {
  std::size_t base = 0;
  std::size_t now = 0;
};

std::size_t first_of(const Rows& rows) {
  return (*std::ranges::min_element(rows, {}, &ProfileRow::order))->order;
}

/// The longest sequence that both sides have in the same order: patience sorting.
std::vector<Anchor> common_order(std::vector<Anchor> anchors) {
  std::ranges::sort(anchors, {}, [](const Anchor& at) { return std::pair(at.base, at.now); });
  std::vector<std::size_t> tails;  // by length less one: the anchor with the least end
  std::vector<std::size_t> before(anchors.size(), SIZE_MAX);
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const auto at = std::ranges::lower_bound(tails, anchors[i].now, {},
                                             [&](std::size_t tail) { return anchors[tail].now; });
    if (at != tails.begin()) before[i] = *std::prev(at);
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Anchor> out;
  for (std::size_t at = tails.empty() ? SIZE_MAX : tails.back(); at != SIZE_MAX; at = before[at])
    out.push_back(anchors[at]);
  std::ranges::reverse(out);
  return out;
}

bool known(const Rows& rows) {
  return std::ranges::all_of(rows, [](const ProfileRow* row) { return row->order > 0; });
}

}  // namespace

std::vector<AlignedWork> between_siblings(const std::vector<AlignedWork>& matched, const Rows& base,
                                          const Rows& now) {
  if (!known(base) || !known(now)) return {};
  std::vector<Anchor> anchors;
  for (const AlignedWork& work : matched) {
    if (!known(work.base) || !known(work.now)) return {};
    anchors.push_back({.base = first_of(work.base), .now = first_of(work.now)});
  }
  anchors = common_order(std::move(anchors));
  if (anchors.empty()) return {};
  std::map<std::size_t, AlignedWork> stretches;  // by the number of siblings before
  for (const ProfileRow* const row : base) {
    const auto before = std::ranges::lower_bound(anchors, row->order, {}, &Anchor::base);
    stretches[static_cast<std::size_t>(before - anchors.begin())].base.push_back(row);
  }
  for (const ProfileRow* const row : now) {
    const auto before = std::ranges::lower_bound(anchors, row->order, {}, &Anchor::now);
    stretches[static_cast<std::size_t>(before - anchors.begin())].now.push_back(row);
  }
  std::vector<AlignedWork> out;
  for (auto& [before, work] : stretches) {
    if (work.base.empty() || work.now.empty()) continue;
    work.alignment = Alignment::siblings;
    work.bucket = work.base.front()->key.bucket;
    out.push_back(std::move(work));
  }
  return out;
}

}  // namespace fathom
