// What is known of a run as a whole.
#include "engine/diagnosis/run_summary.h"

#include <gtest/gtest.h>

#include "analysis/context.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A recorded process whose steps are of this kind, with what its threads did in them.
RunSummary summary_of(std::string_view step_by) {
  TraceBuilder builder;
  builder.on_thread(7, 7).step(0, 0, 100);
  builder.on_thread(7, 8).step(1, 50, 100);
  builder.fact("step_by", step_by);
  builder.fact("run.steps", "[[0,0,100],[1,50,150],[2,200,300]]");
  builder.fact("thread_time.other.steps", "3").fact("thread_time.other.wall_ns", "300");
  builder.fact("thread_time.other.cpu_ns", "90").fact("thread_time.other.preempted_ns", "30");
  builder.fact("thread_time.waits", R"([["serve.py:7 in load",4]])");
  Trace trace = builder.build();
  trace.process_runs.push_back({.pid = 7, .start_ns = 0, .end_ns = 400, .wall_ns = 400});
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  return *summarize_run(context, -1, -1);
}

TEST(RunSummary, OfAServerHasWhatThreadsDidInRequests) {
  const RunSummary run = summary_of("\"request\"");
  ASSERT_TRUE(run.timed && run.timed->requests);
  ASSERT_TRUE(run.request_time);
  EXPECT_EQ(run.request_time->steps, 3);
  EXPECT_EQ(run.request_time->computing, duration_ns(90));
  EXPECT_EQ(run.request_time->preempted, duration_ns(30));
  EXPECT_EQ(run.request_time->waiting, duration_ns(180));
  EXPECT_EQ(run.request_time->places.at(0).where, "serve.py:7 in load");
}

TEST(RunSummary, OfALoopHasNoRequests) {
  const RunSummary run = summary_of("\"optimizer\"");
  ASSERT_TRUE(run.timed);
  EXPECT_FALSE(run.timed->requests);
  EXPECT_FALSE(run.request_time);
}

}  // namespace
}  // namespace fathom
