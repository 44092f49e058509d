// What a selection selects.
#include "analysis/context.h"

#include <optional>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

class ContextTest : public testing::Test {
 protected:
  ContextTest() {
    TraceBuilder builder;
    op_ = builder.op("a", 1000, 100);
    builder.step(1, 1000, 500);
    builder.step(2, 1500, 500);
    later_ = builder.op("b", 1600, 100);
    kernel_ = builder.on_stream(7, 0).kernel("k", 1650, 100);
    other_ = builder.on_stream(7, 1).kernel("k", 1100, 100);
    trace_ = builder.build();
    analyses_.emplace(trace_);
  }
  [[nodiscard]] Context context() const { return {trace_, *analyses_, selection_, {}}; }

  Trace trace_;
  std::optional<Analyses> analyses_;
  Selection selection_;
  SliceId op_;
  SliceId later_;
  SliceId kernel_;
  SliceId other_;
};

TEST_F(ContextTest, EverythingIsTheSpan) {
  EXPECT_TRUE(context().everything());
  EXPECT_EQ(context().window(), trace_.span);
  EXPECT_TRUE(context().selects_host(op_));
  EXPECT_TRUE(context().selects_activity(kernel_));
}

TEST_F(ContextTest, AWindowCountsFromTheStartOfTheSpan) {
  selection_.window = Interval{time_ns(500), time_ns(700)};
  EXPECT_EQ(context().window(), (Interval{time_ns(1500), time_ns(1700)}));
  EXPECT_FALSE(context().selects_host(op_));
  EXPECT_TRUE(context().selects_host(later_));
  EXPECT_TRUE(context().selects_activity(kernel_));
  EXPECT_FALSE(context().selects_activity(other_));
}

TEST_F(ContextTest, AnOpenWindowEndsWithTheSpan) {
  selection_.window = Interval{time_ns(500), Time::max()};
  EXPECT_EQ(context().window().end, trace_.span.end);
}

TEST_F(ContextTest, ADeviceSelectsActivitiesButNotTheHost) {
  selection_.device = 1;
  EXPECT_FALSE(context().everything());
  EXPECT_TRUE(context().selects_host(op_));
  EXPECT_FALSE(context().selects_activity(kernel_));
  EXPECT_TRUE(context().selects_activity(other_));
}

TEST_F(ContextTest, StepsSelectTheirWindows) {
  selection_.steps = Selection::StepRange{2, 2};
  EXPECT_FALSE(context().selects_host(op_));
  EXPECT_TRUE(context().selects_host(later_));
}

TEST_F(ContextTest, StepsThatDoNotExistSelectNothing) {
  selection_.steps = Selection::StepRange{8, 9};
  EXPECT_EQ(context().window().length(), Duration());
  EXPECT_FALSE(context().selects_host(later_));
}

TEST_F(ContextTest, AnalysesAreComputedOnce) {
  EXPECT_EQ(&context().nesting(), &context().nesting());
  EXPECT_EQ(&context().links(), &context().links());
}

}  // namespace
}  // namespace fathom
