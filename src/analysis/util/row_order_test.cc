// sort_rows() against the standard library, on the shapes of disorder that traces have.
#include "analysis/util/row_order.h"

#include <cstdint>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// Rows 0…n-1 sorted by keys[row], compared with std::stable_sort.
void expect_sorted_like_the_library(const std::vector<int>& keys) {
  std::vector<std::uint32_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<std::uint32_t> expected = rows;
  const auto less = [&keys](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
  std::ranges::stable_sort(expected, less);
  sort_rows(std::span<std::uint32_t>(rows), less);
  EXPECT_EQ(rows, expected);
}

TEST(RowOrder, LeavesNothingAndOneAlone) {
  expect_sorted_like_the_library({});
  expect_sorted_like_the_library({7});
}

TEST(RowOrder, SortsReversedAndInterleavedRuns) {
  expect_sorted_like_the_library({9, 8, 7, 6, 5, 4, 3});
  expect_sorted_like_the_library({0, 2, 4, 6, 1, 3, 5, 7, 2, 2, 9, 0});
}

TEST(RowOrder, KeepsTheOrderOfEqualKeys) {
  expect_sorted_like_the_library({1, 1, 0, 1, 0, 0, 1, 1, 0});
}

TEST(RowOrder, SortsRandomRowsOfAnyLength) {
  std::mt19937 random(1);
  for (std::size_t length = 0; length < 200; ++length) {
    std::vector<int> keys(length);
    for (int& key : keys) key = static_cast<int>(random() % 50);
    expect_sorted_like_the_library(keys);
  }
}

TEST(RowOrder, SortsLocalDisorder) {
  std::mt19937 random(2);
  std::vector<int> keys(5000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i + random() % 9);
  expect_sorted_like_the_library(keys);
}

TEST(RowOrder, ArrangesRowsByTheNumbersOfTheirOldPlaces) {
  std::vector<std::string> rows = {"a", "b", "c", "d", "e", "f"};
  arrange(std::span(rows), {3, 1, 0, 2, 5, 4});
  EXPECT_EQ(rows, (std::vector<std::string>{"d", "b", "a", "c", "f", "e"}));
}

}  // namespace
}  // namespace fathom
