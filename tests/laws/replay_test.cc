// Laws of predictions: what takes less time makes nothing later, and the best of an interval is no
// slower than the worst.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "engine/whatif/what_if.h"
#include "formats/format.h"
#include "replay/build.h"
#include "replay/changes.h"
#include "replay/run.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

/// Changes per recording: many of a small one, few of a large one; or as many as
/// FATHOM_REPLAY_CHANGES says: 1,000 of each, as `make nightly` asks for, take minutes.
constexpr std::size_t kMostEdits = 40;
constexpr std::size_t kNodesPerRecording = 1'000'000;

class ReplayLaws : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    ASSERT_TRUE(read.ok()) << read.error().message;
    trace_ = std::move(*read);
  }

  Trace trace_;
};

/// Shorter, by chance: one slice in `every` takes a random part of its time.
Edits shorter(const Trace& trace, std::mt19937& chance, unsigned every) {
  Edits edits;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    if (!is_host_work(kind) && !is_device_activity(kind)) continue;
    if (chance() % every == 0)
      edits.scale.emplace_back(SliceId(row), static_cast<float>(chance() % 5) / 4);
  }
  return edits;
}

// Ends of steps are among the moments. A single step may last longer, where the one before it ends
// earlier by more.
TEST_P(ReplayLaws, NothingComesLaterBecauseSomethingTakesLessTime) {
  const Analyses analyses(trace_);
  const Context context{trace_, analyses, {}, {}};
  const auto graph = build_replay_graph(context, context.steps().steps, context.steps().counted(),
                                        ReplayScope::everything);
  const std::vector<NodeRange> all{{.begin = 1, .end = static_cast<std::uint32_t>(graph->nodes())}};
  const char* const asked = std::getenv("FATHOM_REPLAY_CHANGES");  // NOLINT(concurrency-mt-unsafe)
  const std::size_t edits =
      asked != nullptr
          ? std::strtoull(asked, nullptr, 10)
          : std::clamp<std::size_t>(kNodesPerRecording / (graph->nodes() + 1), 2, kMostEdits);
  RecordProperty("changes", static_cast<int>(edits));
  std::mt19937 chance(static_cast<unsigned>(trace_.slices.size()));
  for (std::size_t i = 0; i < edits; ++i) {
    const Edits changed = shorter(trace_, chance, 1U << (i % 8));
    const EditedGraph edited(*graph, changed, all);
    const std::vector<Time> times = replay_times(edited, all);
    std::size_t later = 0;
    for (std::size_t node = 0; node < times.size(); ++node)
      later += times[node] > graph->at[node] ? 1 : 0;
    ASSERT_EQ(later, 0U) << "of " << times.size() << " moments, by change " << i;
  }
}

TEST_P(ReplayLaws, TheBestIsNoSlowerThanTheWorst) {
  const Session session(std::move(trace_), "recording");
  for (int change = 0; change < 5; ++change) {
    WhatIfRequest request;
    request.remove_syncs = change == 0;
    request.overlap_input = change == 1;
    request.launch_once = change == 2;
    request.pin_copies = change == 3;
    request.hide_communication = change == 4;
    const Result<WhatIf> result = what_if(session, request);
    if (!result.ok()) continue;  // nothing to change
    EXPECT_LE(result->best.median, result->worst.median) << change;
    EXPECT_LE(result->best.mean, result->worst.mean) << change;
  }
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  ASSERT_TRUE(diagnosis.ok());
  for (const RankedFinding& found : diagnosis->findings) {
    if (!found.gain || !found.predicted) continue;
    EXPECT_LE(found.gain->low, found.gain->likely) << found.id;
    EXPECT_LE(found.gain->likely, found.gain->high) << found.id;
    EXPECT_LE(found.predicted->low, found.predicted->likely) << found.id;
    EXPECT_LE(found.predicted->likely, found.predicted->high) << found.id;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, ReplayLaws, testing::ValuesIn(all_recordings()),
                         name_of_recording);

}  // namespace
}  // namespace fathom
