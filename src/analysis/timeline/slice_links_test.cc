// What a slice has to do with others, in both directions.
#include "analysis/timeline/slice_links.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A training step with stacks: two modules, a backward pass on another thread, kernels of both.
struct Step {
  SliceId frame, model, layer, linear, mm, call, second_call, kernel, second_kernel, outside;
  SliceId backward, backward_call, backward_kernel, backward_again;
  Trace trace;

  Step() {
    TraceBuilder builder;
    frame = builder.frame("train.py(12): train", 0, 1000, 1);
    model = builder.frame("nn.Module: Model_0", 10, 600, 2, 1);
    layer = builder.frame("nn.Module: Linear_3", 100, 300, 3, 2);
    linear = builder.op("aten::linear", 110, 250);
    mm = builder.op("aten::mm", 120, 200).sequence(7);
    call = builder.runtime("cudaLaunchKernel", 130, 10, 1);
    second_call = builder.runtime("cudaLaunchKernel", 150, 10, 2);
    outside = builder.op("aten::relu", 700, 50);
    kernel = builder.kernel("gemm", 200, 100, 1);
    second_kernel = builder.kernel("gemm", 300, 40, 2);
    builder.on_thread(2);
    backward = builder.op("MmBackward0", 400, 100).sequence(7, 1);
    backward_call = builder.runtime("cudaLaunchKernel", 420, 10, 3);
    backward_again = builder.op("aten::accumulate", 520, 10).sequence(7, 1);
    backward_kernel = builder.kernel("gemm", 500, 70, 3);
    trace = builder.build();
  }
};

class SliceLinksTest : public testing::Test {
 protected:
  [[nodiscard]] LinksOfSlice of(SliceId slice, std::size_t most = 10) const {
    return links_.of(slice, most);
  }
  [[nodiscard]] SameName same(SliceId slice) const { return links_.same_name(slice); }

  Step at_;  // NOLINT(cppcoreguidelines-non-private-member-variables-in-classes): of a fixture

 private:
  Analyses analyses_{at_.trace};
  SliceLinks links_{Context{at_.trace, analyses_, {}, {}}};
};

TEST_F(SliceLinksTest, LeadFromAKernelToLaunchOperatorModuleAndLine) {
  const LinksOfSlice links = of(at_.kernel);
  EXPECT_EQ(links.launch, at_.call);
  EXPECT_EQ(links.op, at_.mm);
  EXPECT_EQ(links.module, at_.layer);
  EXPECT_EQ(links.frame, at_.layer);
  EXPECT_TRUE(links.activities.empty());
}

TEST_F(SliceLinksTest, LeadFromAnOperatorToItsParentAndItsKernels) {
  const LinksOfSlice links = of(at_.linear);
  EXPECT_FALSE(links.parent.valid());
  EXPECT_EQ(of(at_.mm).parent, at_.linear);
  EXPECT_FALSE(of(at_.mm).op.valid()) << "around an operator is its parent";
  EXPECT_EQ(links.activities, (std::vector<SliceId>{at_.kernel, at_.second_kernel}));
  EXPECT_EQ(links.activities_total, 2U);
  EXPECT_EQ(of(at_.linear, 1).activities, (std::vector<SliceId>{at_.kernel}));
  EXPECT_EQ(of(at_.linear, 1).activities_total, 2U) << "what is left out counts";
}

TEST_F(SliceLinksTest, OfACallAreItsOwnKernelsOnly) {
  EXPECT_EQ(of(at_.call).activities, (std::vector<SliceId>{at_.kernel}));
  EXPECT_EQ(of(at_.second_call).activities, (std::vector<SliceId>{at_.second_kernel}));
  EXPECT_EQ(of(at_.call).op, at_.mm);
}

TEST_F(SliceLinksTest, LeadFromAFrameToTheFrameAndTheModuleAroundIt) {
  EXPECT_EQ(of(at_.layer).frame, at_.model);
  EXPECT_EQ(of(at_.layer).module, at_.model);
  EXPECT_EQ(of(at_.model).frame, at_.frame);
  EXPECT_FALSE(of(at_.model).module.valid()) << "nothing around it is a module";
  EXPECT_FALSE(of(at_.frame).frame.valid());
}

TEST_F(SliceLinksTest, OutsideOfModulesHaveALineOnly) {
  EXPECT_EQ(of(at_.outside).frame, at_.frame);
  EXPECT_FALSE(of(at_.outside).module.valid());
  EXPECT_FALSE(of(at_.backward).frame.valid()) << "no frames were recorded of that thread";
}

TEST_F(SliceLinksTest, LeadForwardAndBackward) {
  EXPECT_EQ(of(at_.backward).forward, at_.mm);
  EXPECT_TRUE(of(at_.backward).backward.empty());
  EXPECT_EQ(of(at_.mm).backward, (std::vector<SliceId>{at_.backward, at_.backward_again}));
  EXPECT_EQ(of(at_.mm, 1).backward.size(), 1U);
  EXPECT_FALSE(of(at_.mm).forward.valid());
  EXPECT_FALSE(of(at_.outside).forward.valid());
  EXPECT_TRUE(of(at_.outside).backward.empty());
}

TEST_F(SliceLinksTest, LeadToThePreviousTheNextAndTheSlowestOfTheName) {
  const SameName first = same(at_.kernel);
  EXPECT_FALSE(first.previous.valid());
  EXPECT_EQ(first.next, at_.second_kernel);
  EXPECT_EQ(first.slowest, at_.kernel);
  EXPECT_EQ(first.count, 3U);
  EXPECT_EQ(first.total, Duration(100 + 40 + 70));
  const SameName middle = same(at_.second_kernel);
  EXPECT_EQ(middle.previous, at_.kernel);
  EXPECT_EQ(middle.next, at_.backward_kernel);
  EXPECT_FALSE(same(at_.backward_kernel).next.valid());
}

TEST_F(SliceLinksTest, PreviousAndNextLieOnTheSameTrack) {
  const SameName call = same(at_.second_call);
  EXPECT_EQ(call.count, 3U);
  EXPECT_EQ(call.previous, at_.call);
  EXPECT_FALSE(call.next.valid()) << "the third is of another thread";
  const SameName alone = same(at_.outside);
  EXPECT_FALSE(alone.previous.valid());
  EXPECT_FALSE(alone.next.valid());
  EXPECT_EQ(alone.slowest, at_.outside);
}

TEST(SliceLinks, OfEqualTimesOrderByTheirPlaceInTheFile) {
  TraceBuilder builder;
  const SliceId first = builder.op("a", 5, 0);
  const SliceId second = builder.op("a", 5, 0);
  const SliceId third = builder.op("a", 5, 0);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const SliceLinks links(Context{trace, analyses, {}, {}});
  EXPECT_EQ(links.same_name(second).previous, first);
  EXPECT_EQ(links.same_name(second).next, third);
  EXPECT_EQ(links.same_name(second).slowest, first) << "the first of the longest";
}

}  // namespace
}  // namespace fathom
