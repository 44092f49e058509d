// A sum that notices every changed byte.
#include "base/block_sum.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::uint64_t sum(const std::string& text) { return block_sum(text.data(), text.size()); }

TEST(BlockSum, DependsOnTheBytesAlone) {
  const std::string text(1000, 'x');
  const std::string moved = "." + text;
  EXPECT_EQ(sum(text), block_sum(moved.data() + 1, text.size()));
}

TEST(BlockSum, NoticesEachBit) {
  for (const std::size_t bytes : {1U, 15U, 63U, 64U, 65U, 200U}) {
    std::string text(bytes, '\0');
    std::set<std::uint64_t> sums = {sum(text)};
    for (std::size_t bit = 0; bit < bytes * 8; ++bit) {
      text[bit / 8] = static_cast<char>(1U << bit % 8);
      sums.insert(sum(text));
      text[bit / 8] = 0;
    }
    EXPECT_EQ(sums.size(), bytes * 8 + 1);
  }
}

TEST(BlockSum, NoticesLengthAndOrder) {
  std::set<std::uint64_t> sums;
  for (std::size_t bytes = 0; bytes < 300; ++bytes) sums.insert(sum(std::string(bytes, '\0')));
  EXPECT_EQ(sums.size(), 300U);
  const std::string first(64, 'a');
  const std::string second(64, 'b');
  EXPECT_NE(sum(first + second), sum(second + first));
}

TEST(BlockSum, KeepsWhatCameBeforeAFactorOfZero) {
  // The words with which the first lane is mixed: its own prime makes the product 0.
  constexpr std::uint64_t kPrime = 0xa0761d6478bd642fULL;
  std::string zero(64, '\0');
  zero.replace(0, sizeof kPrime, reinterpret_cast<const char*>(&kPrime), sizeof kPrime);
  std::string before(64, '\0');
  const std::uint64_t one = sum(before + zero);
  before[0] = 1;
  EXPECT_NE(sum(before + zero), one);
}

}  // namespace
}  // namespace fathom
