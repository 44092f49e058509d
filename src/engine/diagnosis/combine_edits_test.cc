#include "engine/diagnosis/combine_edits.h"

#include <gtest/gtest.h>

#include "replay/slice_edits.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Four slices.
Trace four() {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 4; ++i) builder.op("aten::mm", 100 * i, 50);
  return builder.build();
}

SliceEdits combined(const Edits& first, const Edits& second) {
  static const Trace kTrace = four();
  const Edits* const both[] = {&first, &second};
  return {combine_edits(both), kTrace};
}

TEST(CombineEdits, KeepsTheSmallestFactorOfASlice) {
  Edits first;
  first.scale = {{SliceId(0), 0.25F}, {SliceId(1), 0.9F}};
  Edits second;
  second.scale = {{SliceId(0), 0.5F}, {SliceId(1), 0.1F}, {SliceId(2), 0.3F}};
  for (const SliceEdits& edits : {combined(first, second), combined(second, first)}) {
    EXPECT_FLOAT_EQ(static_cast<float>(edits.factor(SliceId(0))), 0.25F);
    EXPECT_FLOAT_EQ(static_cast<float>(edits.factor(SliceId(1))), 0.1F);
    EXPECT_FLOAT_EQ(static_cast<float>(edits.factor(SliceId(2))), 0.3F);
    EXPECT_FLOAT_EQ(static_cast<float>(edits.factor(SliceId(3))), 1.0F);
  }
}

TEST(CombineEdits, TakesTheLastFactorWithinOneChange) {
  Edits change;
  change.scale = {{SliceId(0), 0.25F}, {SliceId(0), 0.5F}};
  EXPECT_FLOAT_EQ(static_cast<float>(combined(change, {}).factor(SliceId(0))), 0.5F);
}

TEST(CombineEdits, HoldsAllThatEitherChanges) {
  Edits first;
  first.remove = {SliceId(0)};
  first.no_wait = {SliceId(1)};
  Edits second;
  second.hide = {SliceId(2)};
  second.overlap = {SliceId(3)};
  second.launch_once = true;
  const SliceEdits edits = combined(first, second);
  EXPECT_TRUE(edits.has(SliceId(0), SliceEdits::kRemoved));
  EXPECT_TRUE(edits.has(SliceId(1), SliceEdits::kNoWait));
  EXPECT_TRUE(edits.has(SliceId(2), SliceEdits::kHidden));
  EXPECT_TRUE(edits.has(SliceId(3), SliceEdits::kAhead));
  EXPECT_TRUE(edits.launch_once());
}

}  // namespace
}  // namespace fathom
