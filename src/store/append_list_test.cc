#include "store/append_list.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(AppendList, ReturnsRowsInOrderAndKeepsTheirPlace) {
  AppendList<std::uint64_t> list;
  list.push_back(7);
  const std::uint64_t* const first = &list[0];
  for (std::uint64_t i = 1; i < 10'000; ++i) EXPECT_EQ(list.push_back(7 + i), i);
  EXPECT_EQ(list.size(), 10'000U);
  EXPECT_EQ(&list[0], first);
  for (std::uint64_t i = 0; i < list.size(); ++i) ASSERT_EQ(list[i], 7 + i);
}

TEST(AppendList, TakesRowsFromSeveralThreads) {
  constexpr std::size_t kEach = 20'000;
  AppendList<std::size_t> list;
  std::vector<std::vector<std::size_t>> rows(4);
  std::vector<std::jthread> threads;
  threads.reserve(rows.size());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    threads.emplace_back([&list, &mine = rows[t], t] {
      for (std::size_t i = 0; i < kEach; ++i) mine.push_back(list.push_back(t * kEach + i));
    });
  }
  threads.clear();
  EXPECT_EQ(list.size(), rows.size() * kEach);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    for (std::size_t i = 0; i < kEach; ++i) ASSERT_EQ(list[rows[t][i]], t * kEach + i);
  }
}

}  // namespace
}  // namespace fathom
