#include "compare/key_ranks.h"

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

TEST(KeyRanks, AreOrderedAndEqualAsTheKeysAre) {
  std::vector<WorkKey> keys = {forward_key("aten::mul", "[2]"), forward_key("aten::mm", "[2]"),
                               forward_key("aten::mm", "[10]"), forward_key(""),
                               forward_key(std::string("aten::mm"), std::string("[2]"))};
  keys.push_back(keys[0]);
  keys.back().compiling = true;
  keys.push_back({.bucket = AnyBucket(Bucket::compute), .phase = "forward", .op = "\xc3\xa9"});
  keys.push_back({.bucket = AnyBucket(Bucket::compute), .phase = "backward", .op = "z"});
  std::vector<const WorkKey*> borrowed;
  for (const WorkKey& key : keys) borrowed.push_back(&key);
  const std::vector<KeyRank> ranks = key_ranks(borrowed);
  for (std::size_t a = 0; a < keys.size(); ++a) {
    for (std::size_t b = 0; b < keys.size(); ++b)
      EXPECT_EQ(ranks[a] <=> ranks[b], keys[a] <=> keys[b]) << a << " and " << b;
  }
}

TEST(KeyRanks, AnEmptyTextIsZero) {
  const WorkKey key = forward_key("aten::mm");
  const WorkKey* const keys[] = {&key};
  const KeyRank rank = key_ranks(keys).front();
  EXPECT_NE(rank[static_cast<std::size_t>(KeyField::op)], 0U);
  EXPECT_EQ(rank[static_cast<std::size_t>(KeyField::module)], 0U);
}

TEST(KeyRanks, EqualOnesKeepTheirOrder) {
  const KeyRank low{1};
  const KeyRank high{2};
  const KeyRank ranks[] = {high, low, high, low};
  EXPECT_EQ(in_order(ranks), (std::vector<std::uint32_t>{1, 3, 0, 2}));
}

}  // namespace
}  // namespace fathom
