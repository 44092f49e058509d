// Joins the changes of several findings into one.
#include "engine/diagnosis/combine_edits.h"

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

void append(std::vector<SliceId>& to, const std::vector<SliceId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Of one change, later factors for a slice replace earlier ones.
std::vector<std::pair<SliceId, float>> last_factors(const Edits& change) {
  std::vector<std::pair<SliceId, float>> factors(change.scale.rbegin(), change.scale.rend());
  const auto slice = [](const auto& factor) { return factor.first.value; };
  std::ranges::stable_sort(factors, {}, slice);
  const auto same = [slice](const auto& a, const auto& b) { return slice(a) == slice(b); };
  factors.erase(std::unique(factors.begin(), factors.end(), same), factors.end());
  return factors;
}

}  // namespace

Edits combine_edits(std::span<const Edits* const> changes) {
  Edits all;
  for (const Edits* const change : changes) {
    const auto factors = last_factors(*change);
    all.scale.insert(all.scale.end(), factors.begin(), factors.end());
    append(all.remove, change->remove);
    append(all.no_wait, change->no_wait);
    append(all.overlap, change->overlap);
    append(all.hide, change->hide);
    all.launch_once = all.launch_once || change->launch_once;
  }
  std::ranges::stable_sort(all.scale, [](const auto& a, const auto& b) {
    return a.first.value != b.first.value ? a.first.value < b.first.value : a.second > b.second;
  });
  return all;
}

}  // namespace fathom
