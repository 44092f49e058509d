// A column keeps its rows on its way from the heap into mappings of its own.
#include "store/column.h"

#include <cstdint>
#include <cstdio>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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

/// A column of 1000 rows that lie in a file, with something else behind them.
Column<std::uint64_t> of_file(std::FILE* file) {
  for (std::uint64_t row = 0; row < 1024; ++row) std::fwrite(&row, sizeof row, 1, file);
  std::fflush(file);
  constexpr std::size_t kBytes = 1024 * sizeof(std::uint64_t);
  void* const mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
  EXPECT_NE(mapping, MAP_FAILED);
  return Column<std::uint64_t>::of_mapping(mapping, kBytes, 1000);
}

TEST(Column, OfAFileChangesInMemoryOnly) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  Column<std::uint64_t> column = of_file(file);
  ASSERT_EQ(column.size(), 1000U);
  EXPECT_EQ(column[999], 999U);
  column[3] = 77;
  column.push_back(5);
  EXPECT_EQ(column[3], 77U);
  EXPECT_EQ(column[1000], 5U);
  for (const std::uint64_t row : {3U, 1000U}) {
    std::uint64_t written = 0;
    ASSERT_EQ(
        pread(fileno(file), &written, sizeof written, static_cast<off_t>(row * sizeof written)),
        static_cast<ssize_t>(sizeof written));
    EXPECT_EQ(written, row);
  }
  std::fclose(file);
}

TEST(Column, OfAFileGrowsBeyondIt) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  Column<std::uint64_t> column = of_file(file);
  column.resize(1010);
  EXPECT_EQ(column[1005], 0U);
  for (std::uint64_t row = 1010; row < kMany; ++row) column.push_back(row);
  EXPECT_EQ(column[999], 999U);
  EXPECT_EQ(column[1023], 1023U);
  EXPECT_EQ(column.back(), kMany - 1);
  Column<std::uint64_t> larger = of_file(file);
  larger.resize(2000);
  EXPECT_EQ(larger[999], 999U);
  EXPECT_EQ(larger[1010], 0U);
  EXPECT_EQ(larger[1999], 0U);
  std::fclose(file);
}

}  // namespace
}  // namespace fathom
