// A column keeps its rows on its way from the heap into mappings of its own.
#include "store/column.h"

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::size_t kMany = 1'000'000;  // 8 MB: heap, small pages, huge pages

TEST(Column, KeepsItsRowsHoweverFarItGrows) {
  Column<std::uint64_t> column;
  for (std::uint64_t row = 0; row < kMany; ++row) {
    column.push_back(row * row);
    ASSERT_EQ(column[row / 2], (row / 2) * (row / 2));
  }
  ASSERT_EQ(column.size(), kMany);
  for (std::uint64_t row = 0; row < kMany; ++row) ASSERT_EQ(column[row], row * row);
}

TEST(Column, TakesOverRowsOfAnother) {
  Column<std::uint32_t> all;
  for (const std::size_t rows : {1U, 100U, 10'000U, 3'000'000U}) {
    Column<std::uint32_t> part;
    part.resize(rows);
    part[rows - 1] = static_cast<std::uint32_t>(rows);
    all.append(part.span());
    EXPECT_EQ(all.back(), rows);
  }
  EXPECT_EQ(all[0], 1U);
  EXPECT_EQ(all[100], 100U);
  EXPECT_EQ(all[10'100], 10'000U);
}

TEST(Column, HasZerosWhereNothingWasWritten) {
  for (const std::size_t rows : {std::size_t{3}, std::size_t{5'000}, kMany}) {
    Column<std::uint64_t> column;
    column.resize(rows);
    for (std::uint64_t& value : column) value = 7;
    column.clear();
    column.resize(2 * rows);
    for (const std::uint64_t value : column) ASSERT_EQ(value, 0U);
  }
}

TEST(Column, LeavesItsRowsToTheOneItIsMovedTo) {
  for (const std::size_t rows : {std::size_t{3}, kMany}) {
    Column<std::uint64_t> column;
    column.resize(rows);
    column[rows - 1] = 7;
    Column<std::uint64_t> other;
    other.push_back(1);
    other = std::move(column);
    EXPECT_EQ(other.size(), rows);
    EXPECT_EQ(other.back(), 7U);
  }
}

}  // namespace
}  // namespace fathom
