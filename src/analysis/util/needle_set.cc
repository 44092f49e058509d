// Builds the automaton: a trie of the needles, completed with where to go on a mismatch.
#include "analysis/util/needle_set.h"

#include <cassert>
#include <cctype>

namespace fathom {
namespace {

unsigned char lower(char c) {
  return static_cast<unsigned char>(std::tolower(static_cast<unsigned char>(c)));
}
unsigned char upper(char c) {
  return static_cast<unsigned char>(std::toupper(static_cast<unsigned char>(c)));
}

}  // namespace

NeedleSet::NeedleSet(std::span<const std::string_view> needles) : next_(kWidth), ends_(1, kEnd) {
  std::uint8_t used = 0;
  for (const std::string_view needle : needles) {
    for (const char c : needle) {
      if (symbol_[lower(c)] != 0) continue;
      assert(used + 1U < kWidth);
      symbol_[lower(c)] = symbol_[upper(c)] = ++used;
    }
  }
  for (std::size_t i = 0; i < needles.size(); ++i) {
    if (!needles[i].empty()) add(needles[i], static_cast<std::uint32_t>(i));
  }
  link();
}

void NeedleSet::add(std::string_view needle, std::uint32_t index) {
  std::size_t state = 0;
  for (const char c : needle) {
    const std::size_t edge = state * kWidth + symbol_[lower(c)];
    if (next_[edge] == 0) {
      next_[edge] = static_cast<std::uint16_t>(ends_.size());
      ends_.push_back(kEnd);
      next_.resize(next_.size() + kWidth);
    }
    state = next_[edge];
  }
  matches_.push_back({.needle = index, .next = ends_[state]});
  ends_[state] = static_cast<std::uint32_t>(matches_.size() - 1);
}

void NeedleSet::link() {
  // Breadth first: the longest proper suffix of a state is shorter, hence already complete.
  std::vector<std::uint16_t> suffix(ends_.size(), 0);
  std::vector<std::uint16_t> order = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint16_t state = order[i];
    for (std::size_t symbol = 0; symbol < kWidth; ++symbol) {
      std::uint16_t& child = next_[state * kWidth + symbol];
      const std::uint16_t fallback =
          state == 0 ? std::uint16_t{0} : next_[suffix[state] * kWidth + symbol];
      if (child == 0) {
        child = fallback;
        continue;
      }
      suffix[child] = fallback;
      order.push_back(child);
      std::uint32_t* tail = &ends_[child];
      while (*tail != kEnd) tail = &matches_[*tail].next;
      *tail = ends_[fallback];
    }
  }
}

}  // namespace fathom
