#include "analysis/structure/queue.h"

#include <gtest/gtest.h>

#include "analysis/structure/nesting.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

std::vector<QueuedLaunch> queue_of(const Trace& trace) {
  return compute_queue(trace, compute_links(trace, compute_nesting(trace)));
}

TEST(Queue, GrowsWhileTheHostRunsAhead) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 4; ++i) {
    builder.runtime("cudaLaunchKernel", 10 * i, 5, i + 1);
    builder.kernel("k", 6 + 100 * i, 100, i + 1);
  }
  const Trace trace = builder.build();
  const std::vector<QueuedLaunch> queue = queue_of(trace);
  ASSERT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue[0].depth, 1U);
  EXPECT_EQ(queue[1].depth, 1U);  // the first kernel has started by then
  EXPECT_EQ(queue[2].depth, 2U);
  EXPECT_EQ(queue[3].depth, 3U);
}

TEST(Queue, OfOneStreamDoesNotSeeAnother) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 5, 1);
  builder.runtime("cudaLaunchKernel", 10, 5, 2);
  builder.on_stream(1).kernel("k", 1000, 10, 1);
  builder.on_stream(2).kernel("k", 1000, 10, 2);
  const Trace trace = builder.build();
  const std::vector<QueuedLaunch> queue = queue_of(trace);
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue[1].depth, 1U);
}

TEST(Queue, HoldsAllOfAGraph) {
  TraceBuilder builder;
  builder.runtime("cudaGraphLaunch", 0, 5, 1);
  builder.kernel("a", 20, 5, 1);
  builder.kernel("b", 10, 5, 1);
  builder.kernel("alone", 40, 5, 99);  // no launch: takes no part
  const Trace trace = builder.build();
  const std::vector<QueuedLaunch> queue = queue_of(trace);
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue[0].activities, 2U);
  EXPECT_EQ(queue[0].depth, 2U);
  EXPECT_EQ(trace.name(queue[0].first_activity), "b");
}

}  // namespace
}  // namespace fathom
