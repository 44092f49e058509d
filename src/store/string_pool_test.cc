#include "store/string_pool.h"

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

}  // namespace
}  // namespace fathom
