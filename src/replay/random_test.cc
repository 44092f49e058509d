// Recordings made of chance, which no recorder would write: the replay is still exact.
#include <random>

#include <gtest/gtest.h>

#include "replay/build.h"
#include "replay/changes.h"
#include "replay/kept_shares.h"
#include "replay/replay.h"
#include "replay/run.h"
#include "replay/step_choice.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr const char* kCalls[] = {"cudaLaunchKernel",    "cudaGraphLaunch",       "cudaMemcpyAsync",
                                  "cudaMemcpy",          "cudaStreamSynchronize", "cudaFree",
                                  "cudaStreamWaitEvent", "cudaEventRecord"};

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : chance_(seed) {}

  Trace build() {
    for (std::int64_t i = 0; i < 3; ++i)
      if (below(3) > 0) builder_.on_thread(1).step(i, i * 1000, 600 + below(400));
    for (int i = 0; i < 120; ++i) add();
    return builder_.build();
  }

 private:
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(chance_() % static_cast<std::uint64_t>(limit));
  }
  void add() {
    builder_.on_thread(1 + below(4), 100 + below(2));
    builder_.on_stream(7 + below(3), static_cast<std::int32_t>(below(2)));
    const std::int64_t start = below(3000);
    const std::int64_t length = below(4) == 0 ? 0 : below(200);
    const std::int64_t correlation = below(60);
    switch (below(7)) {
      case 0:
      case 1:
        builder_.op(below(2) == 0 ? "aten::mm" : "autograd::engine::evaluate_function: X", start,
                    length);
        break;
      case 2:
      case 3:
        builder_.runtime(kCalls[below(std::size(kCalls))], start, length, correlation);
        break;
      case 4:
        if (below(2) == 0) {
          builder_.copy(CopyKind::d2h, start, length, correlation, 8)
              .memory(MemoryKind::device, MemoryKind::pageable);
        } else {
          builder_.copy(CopyKind::h2d, start, length, correlation, 8)
              .memory(MemoryKind::pageable, MemoryKind::device);
        }
        break;
      case 5:
        builder_.sync("Stream Sync", start, length, correlation, below(10) - 1, below(3),
                      below(60) - 1);
        break;
      default:
        builder_.kernel(below(3) == 0 ? "ncclDevKernel_AllReduce" : "gemm", start, length,
                        correlation);
    }
  }

  TraceBuilder builder_;
  std::mt19937_64 chance_;
};

class RandomTraces : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTraces, TimesOfThreadsChangeBySharesThatWereKeptAsByTheSlices) {
  std::size_t changed = 0;
  for (unsigned i = 0; i < 50; ++i) {
    const Trace trace = RandomTrace(GetParam() * 50 + i).build();
    const Analyses analyses(trace);
    const Context context{trace, analyses, {}, {}};
    const auto graph = build_replay_graph(context, context.steps().steps, counted_steps(context),
                                          ReplayScope::predicted);
    const std::vector<NodeRange> ranges = plan_steps(*graph, graph->predicted).ranges;
    for (std::size_t part = 2; part < 5; ++part) {
      Edits edits;
      for (std::size_t row = 0; row < trace.slices.size(); row += part)
        edits.scale.emplace_back(SliceId(row), static_cast<float>(row % 4) / 3);
      const SliceEdits slices(edits, trace);
      const HostChanges walked = change_host(*graph, slices, ranges, nullptr);
      const HostChanges kept = change_host(*graph, slices, ranges, graph->shares.get());
      EXPECT_EQ(kept.delay, walked.delay);
      for (const Duration change : walked.delay) changed += change != Duration{} ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 100U);
}

TEST_P(RandomTraces, AreReproducedAndEditedWithoutHarm) {
  for (unsigned i = 0; i < 50; ++i) {
    const Trace trace = RandomTrace(GetParam() * 50 + i).build();
    const Analyses analyses(trace);
    const Context context{trace, analyses, {}, {}};
    const Replay replay = Replay::build(context);
    const ActivityColumn<Interval> replayed = replay.activities({});
    Edits edits;
    edits.launch_once = i % 2 == 0;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      const SliceId slice(row);
      if (row % 3 == 0) edits.scale.emplace_back(slice, static_cast<float>(row % 4) / 2);
      if (is_host_work(trace.kind(slice)) && row % 5 == 0) edits.remove.push_back(slice);
      if (is_host_work(trace.kind(slice)) && row % 7 == 0) edits.no_wait.push_back(slice);
      if (is_host_work(trace.kind(slice)) && row % 11 == 0) edits.overlap.push_back(slice);
      if (!is_device_activity(trace.kind(slice))) continue;
      if (row % 2 == 0) edits.hide.push_back(slice);
      const Interval recorded{trace.slices.start[row], trace.slices.end(slice)};
      ASSERT_EQ(replayed[row], recorded) << "activity " << row;
    }
    const Prediction same = replay.run({});
    const std::vector<const Step*> counted = context.steps().counted();
    ASSERT_EQ(same.steps.size(), counted.size());
    for (std::size_t step = 0; step < counted.size(); ++step)
      EXPECT_EQ(same.steps[step], counted[step]->window.length());
    const Replay smaller = Replay::for_predictions(context);
    EXPECT_EQ(smaller.run({}).steps, same.steps);
    for (const Duration step : smaller.run(edits).steps) EXPECT_GE(step, Duration{});
    for (const Duration step : replay.run(edits).steps) EXPECT_GE(step, Duration{});
    for (const Step& step : context.steps().steps) {
      Time at = step.window.begin;
      for (const PathPiece& piece : replay.critical_path(step)) {
        ASSERT_EQ(piece.interval.begin, at);
        at = piece.interval.end;
      }
      EXPECT_EQ(at, step.window.end);
    }
  }
}

/// A change that makes some slices shorter, and a milder one of the same slices.
struct Shorter {
  Edits change;
  Edits milder;
};

Shorter shorter(const Trace& trace, std::mt19937_64& chance) {
  Shorter edits;
  const std::uint64_t every = 1 + chance() % 8;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    if ((!is_host_work(kind) && !is_device_activity(kind)) || chance() % every != 0) continue;
    const float left = static_cast<float>(chance() % 5) / 4;
    edits.change.scale.emplace_back(SliceId(row), left);
    edits.milder.scale.emplace_back(SliceId(row), (1 + left) / 2);
  }
  return edits;
}

TEST(RandomChanges, MakeNothingLaterInAThousandOfThem) {
  constexpr unsigned kTraces = 50;
  constexpr unsigned kChanges = 20;
  std::size_t changes = 0;
  for (unsigned seed = 0; seed < kTraces; ++seed) {
    const Trace trace = RandomTrace(1'000'000 + seed).build();
    const Analyses analyses(trace);
    const Context context{trace, analyses, {}, {}};
    const auto graph = build_replay_graph(context, context.steps().steps, context.steps().counted(),
                                          ReplayScope::everything);
    const std::vector<NodeRange> all{
        {.begin = 1, .end = static_cast<std::uint32_t>(graph->nodes())}};
    std::mt19937_64 chance(seed);
    for (unsigned i = 0; i < kChanges; ++i) {
      const Shorter edits = shorter(trace, chance);
      const std::vector<Time> best = replay_times(EditedGraph(*graph, edits.change, all), all);
      const std::vector<Time> likely = replay_times(EditedGraph(*graph, edits.milder, all), all);
      std::size_t later = 0;
      for (std::size_t node = 0; node < best.size(); ++node)
        later += best[node] > likely[node] || likely[node] > graph->at[node] ? 1 : 0;
      ASSERT_EQ(later, 0U) << "of " << best.size() << " moments, trace " << seed << ", change "
                           << i;
      ++changes;
    }
  }
  EXPECT_EQ(changes, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, testing::Range(0U, 40U));

}  // namespace
}  // namespace fathom
