// The order of rows: the first of them are those of the whole order, whatever is equal or missing.
#include "engine/query/sort.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "", ""},
    {"calls", ColumnKind::count, "", ""},
    {"percent", ColumnKind::percent, "percent", ""},
    {"value", ColumnKind::text, "", "", false, {}, true},
};

/// Rows of few different values, some of them missing, so that much is equal.
class RandomRows final : public RowSource {
 public:
  RandomRows(std::size_t rows, unsigned seed) {
    std::mt19937 random(seed);
    const auto one_of = [&](unsigned count) { return static_cast<std::int64_t>(random() % count); };
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<Cell> cells(std::size(kColumns));
      if (one_of(5) != 0) cells[0] = "name " + std::to_string(one_of(4));
      if (one_of(5) != 0) cells[1] = one_of(3);
      if (one_of(5) != 0) cells[2] = static_cast<double>(one_of(3)) / 2;
      const std::int64_t kind = one_of(4);
      if (kind == 1) cells[3] = one_of(2);
      if (kind == 2) cells[3] = static_cast<double>(one_of(4)) / 2;
      if (kind == 3) cells[3] = std::to_string(one_of(3));
      cells_.push_back(std::move(cells));
    }
  }
  [[nodiscard]] std::size_t rows() const override { return cells_.size(); }
  [[nodiscard]] Cell cell(std::size_t row, std::size_t column) const override {
    return cells_[row][column];
  }

 private:
  std::vector<std::vector<Cell>> cells_;
};

std::vector<std::uint32_t> sorted(const RowSource& source, SortKey key, std::size_t wanted) {
  return first_in_order(source, kColumns, key, wanted, RowChoice(source.rows()));
}

/// All cells of a row as one text.
std::string text_of(const RowSource& source, std::uint32_t row) {
  std::string text;
  for (std::size_t column = 0; column < std::size(kColumns); ++column) {
    const Cell cell = source.cell(row, column);
    if (const auto* const number = std::get_if<std::int64_t>(&cell))
      text += std::to_string(*number);
    if (const auto* const real = std::get_if<double>(&cell)) text += std::to_string(*real);
    if (const auto* const word = std::get_if<std::string>(&cell)) text += "'" + *word;
    text += ";";
  }
  return text;
}

TEST(FirstInOrder, GivesTheFirstRowsOfTheWholeOrder) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const RandomRows source(300, seed);
    for (std::size_t column = 0; column < std::size(kColumns); ++column) {
      for (const bool descending : {false, true}) {
        const SortKey key{column, descending};
        const std::vector<std::uint32_t> all = sorted(source, key, source.rows());
        ASSERT_EQ(all.size(), source.rows());
        for (const std::size_t wanted : {0U, 1U, 2U, 17U, 150U, 299U, 1000U}) {
          const std::vector<std::uint32_t> some = sorted(source, key, wanted);
          ASSERT_EQ(some.size(), std::min<std::size_t>(wanted, 300));
          for (std::size_t i = 0; i < some.size(); ++i)
            ASSERT_EQ(text_of(source, some[i]), text_of(source, all[i])) << column << " " << i;
        }
      }
    }
  }
}

TEST(FirstInOrder, DoesNotDependOnTheOrderOfTheRows) {
  const RandomRows source(200, 7);
  const SortKey key{1, true};
  const std::vector<std::uint32_t> once = sorted(source, key, 50);
  std::vector<std::uint32_t> backwards(source.rows());
  std::iota(backwards.rbegin(), backwards.rend(), 0U);
  const std::vector<std::uint32_t> rows =
      first_in_order(source, kColumns, key, 50, RowChoice(backwards));
  ASSERT_EQ(rows.size(), once.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(text_of(source, rows[i]), text_of(source, once[i]));
}

TEST(FirstInOrder, PutsMissingValuesLastInEitherDirection) {
  const RandomRows source(300, 3);
  for (const bool descending : {false, true}) {
    const std::vector<std::uint32_t> all = sorted(source, {1, descending}, source.rows());
    bool missing = false;
    for (const std::uint32_t row : all) {
      const bool null = is_null(value_of(source.cell(row, 1)));
      EXPECT_FALSE(missing && !null);
      missing = missing || null;
    }
    EXPECT_TRUE(missing);
  }
}

TEST(FirstInOrder, PutsNumbersBeforeTexts) {
  const RandomRows source(100, 5);
  bool text = false;
  for (const std::uint32_t row : sorted(source, {3, false}, source.rows())) {
    const Cell cell = source.cell(row, 3);
    if (is_null(value_of(cell))) break;
    const bool is_word = std::holds_alternative<std::string>(cell);
    EXPECT_FALSE(text && !is_word);
    text = text || is_word;
  }
  EXPECT_TRUE(text);
}

}  // namespace
}  // namespace fathom
