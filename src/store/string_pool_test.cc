#include "store/string_pool.h"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(StringPool, GivesEqualTextsOneIdAndTheEmptyTextTheFirst) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), StringId(0));
  const StringId id = pool.intern("aten::mm");
  EXPECT_EQ(pool.intern(std::string("aten::mm")), id);
  EXPECT_EQ(pool.find("aten::mm"), id);
  EXPECT_FALSE(pool.find("aten::bmm").valid());
  EXPECT_EQ(pool.view(id), "aten::mm");
  EXPECT_EQ(pool.view(StringId()), "");
  EXPECT_EQ(pool.size(), 2U);
}

TEST(StringPool, KeepsEveryTextInItsPlaceWhileItGrows) {
  StringPool pool;
  const StringPool::Interned first = pool.intern("first", hash_bytes("first"));
  for (int i = 0; i < 100'000; ++i) pool.intern("name " + std::to_string(i));
  EXPECT_EQ(pool.view(first.id).data(), first.text.data());
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = "name " + std::to_string(i);
    ASSERT_EQ(pool.view(pool.find(name)), name);
  }
}

TEST(StringPool, SurvivesBeingMoved) {
  StringPool pool;
  const StringId id = pool.intern("kernel");
  StringPool moved = std::move(pool);
  EXPECT_EQ(moved.view(id), "kernel");
  EXPECT_EQ(moved.intern("kernel"), id);
}

TEST(StringPool, GivesThreadsThatInternTheSameTextsTheSameIds) {
  constexpr int kNames = 20'000;
  StringPool pool;
  std::vector<std::vector<StringId>> ids(4);
  std::vector<std::jthread> threads;
  threads.reserve(ids.size());
  for (std::vector<StringId>& mine : ids) {
    threads.emplace_back([&pool, &mine] {
      for (int i = 0; i < kNames; ++i) {
        const std::string name = "name " + std::to_string(i);
        pool.prefetch(hash_bytes(name));
        mine.push_back(pool.intern(name));
        ASSERT_EQ(pool.view(mine.back()), name);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(pool.size(), kNames + 1U);
  for (const std::vector<StringId>& mine : ids) EXPECT_EQ(mine, ids[0]);
}

Column<char> texts(std::string_view text) {
  Column<char> bytes;
  bytes.append(text);
  bytes.resize(text.size() + 16);
  return bytes;
}

TEST(StringPool, AdoptsTexts) {
  constexpr std::array<std::uint32_t, 4> kLengths = {0, 3, 0, 5};
  std::optional<StringPool> adopted = StringPool::of_texts(texts("onethree"), kLengths);
  ASSERT_TRUE(adopted);
  StringPool pool = *std::move(adopted);
  ASSERT_EQ(pool.size(), 4U);
  EXPECT_EQ(pool.view(StringId(1)), "one");
  EXPECT_EQ(pool.view(StringId(3)), "three");
  EXPECT_EQ(pool.find("three"), StringId(3));
  EXPECT_FALSE(pool.find("two").valid());
  EXPECT_EQ(pool.intern("one"), StringId(1));
  EXPECT_EQ(pool.intern(""), StringId(0));
  EXPECT_EQ(pool.intern("two"), StringId(4));
  EXPECT_EQ(pool.find("two"), StringId(4));
}

TEST(StringPool, AdoptsNoTextsThatTheirLengthsDoNotFit) {
  EXPECT_FALSE(StringPool::of_texts(texts("onethree"), std::array<std::uint32_t, 2>{0, 9}));
  EXPECT_FALSE(StringPool::of_texts(texts("onethree"), std::array<std::uint32_t, 2>{0, 7}));
  EXPECT_FALSE(StringPool::of_texts(texts("onethree"), std::array<std::uint32_t, 2>{3, 5}));
  EXPECT_FALSE(StringPool::of_texts(texts("one"), std::span<const std::uint32_t>()));
  EXPECT_FALSE(StringPool::of_texts(Column<char>(), std::array<std::uint32_t, 1>{0}));
  EXPECT_TRUE(StringPool::of_texts(texts(""), std::array<std::uint32_t, 1>{0}));
}

TEST(StringPool, IsSearchedByManyThreadsWhenItWasAdopted) {
  constexpr std::size_t kNames = 20'000;
  std::string all;
  std::vector<std::uint32_t> lengths = {0};
  for (std::size_t i = 0; i < kNames; ++i) {
    const std::string name = "name " + std::to_string(i);
    lengths.push_back(static_cast<std::uint32_t>(name.size()));
    all += name;
  }
  const std::optional<StringPool> pool = StringPool::of_texts(texts(all), lengths);
  ASSERT_TRUE(pool);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&pool] {
      for (std::size_t i = 0; i < kNames; ++i)
        ASSERT_EQ(pool->find("name " + std::to_string(i)), StringId(i + 1));
    });
  }
}

}  // namespace
}  // namespace fathom
