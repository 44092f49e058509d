// Sorts each text once, by field.
#include "compare/key_ranks.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace fathom {
namespace {

void rank_texts(std::span<const WorkKey* const> keys, SharedText WorkKey::*text, KeyField field,
                std::vector<KeyRank>& ranks) {
  // Most keys share their texts with others.
  std::unordered_map<const char*, std::uint32_t> known;
  std::vector<std::string_view> texts;
  std::vector<std::uint32_t> of(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view view = (keys[i]->*text).view();
    const auto [at, added] =
        known.try_emplace(view.data(), static_cast<std::uint32_t>(texts.size()));
    if (added) texts.push_back(view);
    of[i] = at->second;
  }
  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&texts](std::uint32_t at) { return texts[at]; });
  std::vector<std::uint32_t> rank(texts.size());
  std::uint32_t last = 0;
  std::string_view before;
  for (const std::uint32_t at : order) {
    if (texts[at] != before) ++last;
    rank[at] = last;
    before = texts[at];
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    ranks[i][static_cast<std::size_t>(field)] = rank[of[i]];
}

/// Of each key, so many numbers are counted rather than compared.
constexpr std::size_t kMostCounted = 16;

/// Stably, by one field.
void sort_by(std::span<const KeyRank> ranks, std::size_t field, std::vector<std::uint32_t>& order) {
  std::uint32_t most = 0;
  for (const KeyRank& rank : ranks) most = std::max(most, rank[field]);
  if (most == 0) return;
  if (most > kMostCounted * order.size()) {  // few keys of many texts
    std::ranges::stable_sort(order, {}, [&](std::uint32_t at) { return ranks[at][field]; });
    return;
  }
  std::vector<std::uint32_t> next(most + std::size_t{1});  // of each value its next place
  for (const KeyRank& rank : ranks) ++next[rank[field]];
  std::uint32_t begin = 0;
  for (std::uint32_t& place : next) begin += std::exchange(place, begin);
  std::vector<std::uint32_t> sorted(order.size());
  for (const std::uint32_t at : order) sorted[next[ranks[at][field]]++] = at;
  order.swap(sorted);
}

}  // namespace

std::vector<KeyRank> key_ranks(std::span<const WorkKey* const> keys) {
  std::vector<KeyRank> ranks(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ranks[i][static_cast<std::size_t>(KeyField::bucket)] = keys[i]->bucket.number();
    ranks[i][static_cast<std::size_t>(KeyField::compiling)] = keys[i]->compiling ? 1 : 0;
    ranks[i][static_cast<std::size_t>(KeyField::after_sync)] = keys[i]->after_sync ? 1 : 0;
  }
  rank_texts(keys, &WorkKey::phase, KeyField::phase, ranks);
  rank_texts(keys, &WorkKey::module, KeyField::module, ranks);
  rank_texts(keys, &WorkKey::outer, KeyField::outer, ranks);
  rank_texts(keys, &WorkKey::op, KeyField::op, ranks);
  rank_texts(keys, &WorkKey::shapes, KeyField::shapes, ranks);
  rank_texts(keys, &WorkKey::types, KeyField::types, ranks);
  return ranks;
}

std::vector<std::uint32_t> in_order(std::span<const KeyRank> ranks) {
  std::vector<std::uint32_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0U);
  // Field by field from the last one on, each time stably: ranks are dense, so that counting them
  // takes a fraction of comparing keys that lie scattered in memory.
  for (std::size_t field = kKeyFields; field-- > 0;) sort_by(ranks, field, order);
  return order;
}

}  // namespace fathom
