// Finding the entries of an id, whether ids are dense or far apart.
#include "analysis/util/key_index.h"

#include <random>

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::int64_t kNone = INT64_MIN;

std::vector<std::uint32_t> found(const std::vector<std::int64_t>& keys, std::int64_t key) {
  const KeyIndex index(keys, kNone);
  const auto entries = index.find(key);
  return {entries.begin(), entries.end()};
}

TEST(KeyIndex, FindsAllEntriesOfAKeyInOrder) {
  const std::vector<std::int64_t> keys = {5, 7, 5, kNone, 6, 5};
  EXPECT_EQ(found(keys, 5), (std::vector<std::uint32_t>{0, 2, 5}));
  EXPECT_EQ(found(keys, 7), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(found(keys, kNone).empty());
}

TEST(KeyIndex, KnowsNothingOutsideOfItsKeys) {
  EXPECT_TRUE(found({}, 1).empty());
  EXPECT_TRUE(found({5, 9}, 4).empty());
  EXPECT_TRUE(found({5, 9}, 7).empty());
  EXPECT_TRUE(found({5, 9}, 10).empty());
}

TEST(KeyIndex, HandlesTheEndsOfTheRange) {
  const std::vector<std::int64_t> keys = {INT64_MAX, INT64_MIN + 1, 0, -1};
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(found(keys, keys[i]), (std::vector<std::uint32_t>{i}));
  }
}

TEST(KeyIndex, AgreesWithASearchThroughAllKeys) {
  for (const std::int64_t spread : {1, 100, 1'000'000}) {
    std::mt19937 random(7);
    std::vector<std::int64_t> keys(200);
    for (std::int64_t& key : keys) key = static_cast<std::int64_t>(random() % 60) * spread;
    for (std::int64_t key = 0; key < 60; ++key) {
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == key * spread) expected.push_back(i);
      }
      EXPECT_EQ(found(keys, key * spread), expected);
    }
  }
}

}  // namespace
}  // namespace fathom
