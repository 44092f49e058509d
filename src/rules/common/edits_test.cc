#include "rules/common/edits.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

TEST(ScaleTrees, ScalesEachSliceOnceHoweverOftenItIsNamed) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  const SliceId outer = builder.op("aten::to", 100, 10'000);
  const SliceId inner = builder.op("aten::copy_", 200, 1'000);
  const SliceId innermost = builder.op("aten::empty", 300, 100);
  const SliceId other = builder.op("aten::add", 20'000, 100);
  const JudgedTrace judged(builder);
  Edits edits;
  scale_trees(judged.rules(), {inner, outer, inner, other, innermost, outer}, 0.5F, edits);
  std::map<SliceId, int> times;
  for (const auto& [slice, factor] : edits.scale) {
    ++times[slice];
    EXPECT_EQ(factor, 0.5F);
  }
  const std::map<SliceId, int> once = {{outer, 1}, {inner, 1}, {innermost, 1}, {other, 1}};
  EXPECT_EQ(times, once);
}

TEST(ScaleTrees, LeavesWhatIsAroundThem) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.op("aten::to", 100, 10'000);
  const SliceId inner = builder.op("aten::copy_", 200, 1'000);
  const JudgedTrace judged(builder);
  Edits edits;
  scale_trees(judged.rules(), {inner}, 0.5F, edits);
  ASSERT_EQ(edits.scale.size(), 1U);
  EXPECT_EQ(edits.scale.front().first, inner);
}

TEST(Tree, IsWhatTheSliceHoldsAndNothingThatEndsLater) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  const SliceId outer = builder.op("aten::to", 100, 1'000);
  const SliceId inner = builder.op("aten::copy_", 200, 100);
  const SliceId later = builder.op("aten::add", 900, 500);
  const JudgedTrace judged(builder);
  const auto inside = [&](SliceId slice) {
    const auto found = tree(judged.rules(), slice);
    return std::vector<SliceId>(found.begin(), found.end());
  };
  EXPECT_EQ(inside(outer), (std::vector<SliceId>{outer, inner}));
  EXPECT_EQ(inside(inner), (std::vector<SliceId>{inner}));
  EXPECT_EQ(inside(later), (std::vector<SliceId>{later}));
}

TEST(Tree, FindsTheSliceAmongThoseThatBeginWithIt) {
  TraceBuilder builder;
  const SliceId inner = builder.op("aten::copy_", 100, 50);
  const SliceId outer = builder.op("aten::to", 100, 1'000);
  const SliceId same = builder.op("aten::to", 100, 1'000);
  const JudgedTrace judged(builder);
  const auto sizes = [&](SliceId slice) { return tree(judged.rules(), slice).size(); };
  EXPECT_EQ(sizes(outer), 3U);
  EXPECT_EQ(sizes(same), 2U);
  EXPECT_EQ(sizes(inner), 1U);
}

}  // namespace
}  // namespace fathom
