// Sizes are doubled, then halved, until the place is found.
#include "measure/size_search.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// The new side is faster from `place` on; the same where it lies within `blur` of it.
std::vector<std::int64_t> search(SizeSearch& crossover, std::int64_t place, std::int64_t blur = 0) {
  std::vector<std::int64_t> sizes;
  while (const auto size = crossover.next()) {
    sizes.push_back(*size);
    crossover.add(*size >= place                      ? Verdict::faster
                  : blur > 0 && place - *size <= blur ? Verdict::cannot_tell
                                                      : Verdict::slower);
    if (sizes.size() > 200) break;
  }
  return sizes;
}

TEST(SizeSearch, IsFoundToTheSize) {
  for (const std::int64_t place : {2, 3, 37, 64, 65, 999, 1000}) {
    SizeSearch crossover(1, 1000);
    const std::vector<std::int64_t> sizes = search(crossover, place);
    EXPECT_EQ(crossover.faster_from(), place);
    EXPECT_EQ(crossover.not_faster_at(), place - 1);
    EXPECT_LE(sizes.size(), 22U);
  }
}

TEST(SizeSearch, ThatIsThereAtOnceNeedsOneSize) {
  SizeSearch crossover(8, 1000);
  EXPECT_EQ(search(crossover, 1), std::vector<std::int64_t>{8});
  EXPECT_EQ(crossover.faster_from(), 8);
  EXPECT_EQ(crossover.not_faster_at(), std::nullopt);
}

TEST(SizeSearch, ThatIsNowhereEndsAtTheLargestSize) {
  SizeSearch crossover(1, 100);
  EXPECT_EQ(search(crossover, 1000), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 100}));
  EXPECT_EQ(crossover.faster_from(), std::nullopt);
}

TEST(SizeSearch, IsNotSoughtCloserThanCanBeTold) {
  SizeSearch crossover(1, 4096);
  const std::vector<std::int64_t> sizes = search(crossover, 1000, 300);
  EXPECT_EQ(sizes.back(), 768) << "where neither side is faster";
  EXPECT_EQ(crossover.not_faster_at(), 768);
  EXPECT_EQ(crossover.faster_from(), 1024);
}

}  // namespace
}  // namespace fathom::measure
