// What torch leaves out before and after it nests events.
#include "analysis/structure/torch_forest.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

struct Built {
  explicit Built(TraceBuilder& builder)
      : trace(builder.build()),
        nesting(compute_nesting(trace)),
        names(trace),
        forest(trace, nesting, names) {}
  Trace trace;
  Nesting nesting;
  TorchNames names;
  TorchForest forest;
};

TEST(TorchForest, AnOnlyChildWithItsParentsNameIsDroppedAndItsChildrenMoveUp) {
  TraceBuilder builder;
  const SliceId outer = builder.op("aten::conv2d", 0, 100);
  const SliceId same = builder.op("aten::conv2d", 10, 80);
  const SliceId inner = builder.op("aten::convolution", 20, 20);
  const Built built(builder);
  EXPECT_TRUE(built.forest.is_counted(outer));
  EXPECT_FALSE(built.forest.is_counted(same));
  EXPECT_EQ(built.forest.parent(inner), outer);
  EXPECT_EQ(built.forest.at_or_above(same), outer);
  EXPECT_TRUE(built.forest.lost_its_kernels(outer));
}

TEST(TorchForest, ChainsOfOneNameCollapseIntoTheOutermost) {
  TraceBuilder builder;
  const SliceId outer = builder.op("a", 0, 100);
  builder.op("a", 10, 80);
  builder.op("a", 20, 60);
  const SliceId leaf = builder.op("b", 30, 10);
  const Built built(builder);
  EXPECT_EQ(built.forest.parent(leaf), outer);
  EXPECT_FALSE(built.forest.is_counted(SliceId(1)));
  EXPECT_FALSE(built.forest.is_counted(SliceId(2)));
}

TEST(TorchForest, ChildrenWithSiblingsStay) {
  TraceBuilder builder;
  builder.op("a", 0, 100);
  const SliceId same = builder.op("a", 10, 30);
  builder.op("b", 50, 10);
  const Built built(builder);
  EXPECT_TRUE(built.forest.is_counted(same));
}

TEST(TorchForest, AChainStopsWhereThereAreSiblings) {
  TraceBuilder builder;
  const SliceId outer = builder.op("a", 0, 100);
  const SliceId dropped = builder.op("a", 10, 80);
  const SliceId one = builder.op("a", 20, 10);
  const SliceId two = builder.op("a", 40, 10);
  const Built built(builder);
  EXPECT_FALSE(built.forest.is_counted(dropped));
  EXPECT_TRUE(built.forest.is_counted(one));
  EXPECT_EQ(built.forest.parent(one), outer);
  EXPECT_EQ(built.forest.parent(two), outer);
}

TEST(TorchForest, UtilitiesAreTakenOutBeforeNesting) {
  TraceBuilder builder;
  const SliceId outer = builder.op("a", 0, 100);
  const SliceId utility = builder.op("aten::is_leaf", 10, 50);
  const SliceId inner = builder.op("b", 20, 10);
  const Built built(builder);
  EXPECT_FALSE(built.forest.is_counted(utility));
  EXPECT_EQ(built.forest.parent(inner), outer);
  EXPECT_EQ(built.forest.at_or_above(utility), outer);
}

TEST(TorchForest, AsynchronousEventsAreCountedButNeitherParentsNorChildren) {
  TraceBuilder builder;
  const SliceId outer = builder.op("a", 0, 100);
  const SliceId collective = builder.annotation("nccl:all_reduce", 10, 500);
  const SliceId inner = builder.op("b", 20, 10);
  const Built built(builder);
  EXPECT_TRUE(built.forest.is_counted(collective));
  EXPECT_TRUE(built.forest.is_asynchronous(collective));
  EXPECT_FALSE(built.forest.parent(collective).valid());
  EXPECT_EQ(built.forest.parent(inner), outer);
}

}  // namespace
}  // namespace fathom
