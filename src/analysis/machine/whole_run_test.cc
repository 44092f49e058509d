// The life of a process in parts, and all steps that were timed in it.
#include "analysis/machine/whole_run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/context.h"
#include "analysis/machine/timed_steps.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

using Names = std::vector<std::string_view>;

/// A run of 1000 ns whose steps 2 and 3 of 4 were recorded in depth, in [600, 800).
class Ran {
 public:
  Ran() {
    TraceBuilder builder;
    builder.on_thread(7, 7).step(2, 600, 100);
    builder.step(3, 700, 100);
    builder.fact("run.steps", "[[0,400,500],[1,500,600],[2,600,700],[3,700,800]]");
    trace_ = builder.build();
    timed("import", "phase", 100, 150);
    timed("main", "phase", 250, 700);
    timed("exit", "phase", 950, 30);         // the interpreter ends later
    timed("compilation", "phase", 400, 90);  // in the first step
    timed("checkpoint", "phase", 850, 40);
    timed("fetch", "loader.fetch", 400, 5);
    timed("fetch", "loader.fetch", 500, 5);
    timed("late import", "phase", 300, 40);
    timed("late import", "phase", 810, 20);  // after the last step
    trace_.process_runs.push_back({.pid = 7, .start_ns = 0, .end_ns = 1000, .wall_ns = 1000});
    analyses_ = std::make_unique<Analyses>(trace_);
  }

  [[nodiscard]] WholeRun whole() const {
    return whole_run(trace_, trace_.process_runs.front(), analyses_->steps());
  }
  [[nodiscard]] TimedSteps steps() const { return *analyses_->timed_steps(); }
  static Names names(const std::vector<const RunPart*>& parts) {
    Names found;
    for (const RunPart* const part : parts) found.push_back(part->name);
    return found;
  }
  static std::int64_t time_of(const WholeRun& run, std::string_view name) {
    const auto at = std::ranges::find(run.parts, name, &RunPart::name);
    return at == run.parts.end() ? -1 : to_ns(at->time);
  }
  void timed(std::string_view name, std::string_view category, std::int64_t start,
             std::int64_t duration) {
    trace_.timed.push_back({.pid = 7,
                            .start = time_ns(start),
                            .duration = duration_ns(duration),
                            .name = trace_.strings.intern(name),
                            .category = trace_.strings.intern(category)});
  }

 private:
  Trace trace_;
  std::unique_ptr<Analyses> analyses_;
};

TEST(WholeRun, EveryInstantIsInOnePart) {
  const WholeRun run = Ran().whole();
  EXPECT_EQ(run.wall, duration_ns(1000));
  Duration sum{};
  for (const RunPart& part : run.parts) sum += part.time;
  EXPECT_EQ(sum, run.wall);
  EXPECT_EQ(Ran::time_of(run, "start of Python"), 100);
  EXPECT_EQ(Ran::time_of(run, "imports"), 190) << "a later one before the first step, too";
  EXPECT_EQ(Ran::time_of(run, "before the first step"), 110);
  EXPECT_EQ(Ran::time_of(run, "compilation"), 90);
  EXPECT_EQ(Ran::time_of(run, "steps"), 310);
  EXPECT_EQ(Ran::time_of(run, "checkpoints"), 40);
  EXPECT_EQ(Ran::time_of(run, "exit"), 50);
  EXPECT_EQ(run.in_depth, duration_ns(200));
  EXPECT_EQ(Ran::names(run.beside_steps()), (Names{"imports", "before the first step"}))
      << "690 of 1000, though none alone is more than the steps";
}

TEST(WholeRun, WhatTheRecorderDoesIsNoTimeBetweenSteps) {
  Ran ran;
  ran.timed("recorder", "phase", 800, 50);
  const WholeRun run = ran.whole();
  EXPECT_EQ(Ran::time_of(run, "start and end of traces"), 50);
  EXPECT_EQ(Ran::time_of(run, "after the last step"), 60);
  EXPECT_EQ(Ran::time_of(run, "steps"), 310);
}

TEST(WholeRun, WhatTheRecorderDoesIsNoReasonToLookBesideTheSteps) {
  WholeRun run;
  run.wall = duration_ns(100);
  run.steps = duration_ns(40);
  run.parts = {{"imports", duration_ns(30), 1, "import less"},
               {"steps", duration_ns(40), 4, ""},
               {"start and end of traces", duration_ns(30), 2, ""}};
  EXPECT_TRUE(run.beside_steps().empty()) << "30 of the program beside 40";
  run.parts[2].name = "exit";
  EXPECT_EQ(Ran::names(run.beside_steps()), Names{"imports"});
}

TEST(WholeRun, APartThatIsLargerThanTheStepsIsNamed) {
  WholeRun run = Ran().whole();
  run.steps = duration_ns(120);
  ASSERT_EQ(Ran::names(run.beside_steps()), Names{"imports"});
  EXPECT_FALSE(run.beside_steps().front()->advice.empty());
}

TEST(WholeRun, WhatComesAgainIsNamedBeforeWhatComesOnce) {
  WholeRun run = Ran().whole();
  run.steps = duration_ns(80);
  EXPECT_EQ(Ran::names(run.beside_steps()), (Names{"compilation", "imports"}))
      << "all of them are larger than the steps";
}

TEST(TimedSteps, AreAllStepsRecordedInDepthOrNot) {
  const TimedSteps steps = Ran().steps();
  EXPECT_EQ(steps.ns.count, 4U);
  EXPECT_EQ(steps.in_depth, 2U);
  EXPECT_DOUBLE_EQ(steps.ns.median, 100);
  EXPECT_EQ(steps.fetches, 2U);
  EXPECT_EQ(steps.waited, duration_ns(10));
}

}  // namespace
}  // namespace fathom
