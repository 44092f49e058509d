// Joins rows by the names of their kernels.
#include "compare/same_kernels.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "compare/components.h"

namespace fathom {
namespace {

using Rows = std::vector<const ProfileRow*>;

std::vector<std::string_view> kernels_of(const ProfileRow& row) {
  if (row.kernels.empty()) return {row.key.op.view()};
  std::vector<std::string_view> names;
  for (const KernelTime& kernel : row.kernels) names.push_back(kernel.name);
  return names;
}

}  // namespace

bool without_operators(const Rows& rows) {
  const auto busy = [](const ProfileRow* row) { return row->key.bucket.busy(); };
  return std::ranges::any_of(rows, busy) && std::ranges::none_of(rows, [&](const ProfileRow* row) {
           return busy(row) && !row->kernels.empty();
         });
}

std::vector<AlignedWork> same_kernels(const Rows& base, const Rows& now) {
  Rows all = base;
  all.insert(all.end(), now.begin(), now.end());
  Components components(all.size());
  std::map<std::pair<AnyBucket, std::string_view>, std::size_t> first;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->key.bucket.busy()) continue;
    for (const std::string_view name : kernels_of(*all[i]))
      components.join(i, first.try_emplace({all[i]->key.bucket, name}, i).first->second);
  }
  std::map<std::size_t, AlignedWork> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->key.bucket.busy()) continue;
    AlignedWork& work = found[components.find(i)];
    (i < base.size() ? work.base : work.now).push_back(all[i]);
  }
  std::vector<AlignedWork> out;
  for (auto& [root, work] : found) {
    if (work.base.empty() || work.now.empty()) continue;
    work.alignment = Alignment::kernels;
    work.bucket = work.base.front()->key.bucket;
    out.push_back(std::move(work));
  }
  return out;
}

const Rows& with_operators(const AlignedWork& work) {
  const bool base =
      std::ranges::any_of(work.base, [](const ProfileRow* row) { return !row->kernels.empty(); });
  return base ? work.base : work.now;
}

}  // namespace fathom
