// Finds the word closest to a mistyped one, by edit distance with transpositions.
#include "engine/query/nearest.h"

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> choices) {
  return nearest(word, choices, word.size() / 3 + 1);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> choices,
                         std::size_t slips) {
  constexpr std::size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = slips + 1;
  for (const std::string_view choice : choices) {
    // A beginning of the word is what people type when they expect abbreviations to work.
    const bool begins = word.size() >= 2 && choice.starts_with(word);
    const std::size_t apart =
        word.size() < choice.size() ? choice.size() - word.size() : word.size() - choice.size();
    if (!begins && apart >= best_distance) continue;  // Each letter too many is a slip.
    const std::size_t far = begins ? 1 : distance(word, choice);
    if (far < best_distance) {
      best = choice;
      best_distance = far;
    }
  }
  return best;
}

}  // namespace fathom
