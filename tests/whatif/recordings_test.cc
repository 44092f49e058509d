// The replay on every recording: unchanged it reproduces the recording, and little of that is owed
// to delays that nothing explains.
#include "tests/support/recordings.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "replay/replay.h"

namespace fathom {
namespace {

/// More than the laws are held to: what tests of the reader made, and our own of the CPU.
std::vector<std::string> all_recordings() {
  return recordings({std::filesystem::path(FATHOM_SOURCE_DIR) / "tests/data/plain",
                     further_data() / "torch-cpu"});
}

class Recordings : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    ASSERT_TRUE(read.ok()) << read.error().message;
    trace_ = std::move(*read);
  }
  Trace trace_;
};

TEST_P(Recordings, AreReproducedToTheNanosecond) {
  const Analyses analyses(trace_);
  const Context context{trace_, analyses, {}, {}};
  const Replay replay = Replay::build(context);
  const ActivityColumn<Interval> replayed = replay.activities({});
  for (const SliceId activity : context.links().activities) {
    const Interval recorded{trace_.slices.start[activity.row()], trace_.slices.end(activity)};
    ASSERT_EQ(replayed[activity.row()], recorded) << activity.value;
  }
  const std::vector<const Step*> counted = context.steps().counted();
  const Prediction prediction = replay.run({});
  if (prediction.steps.size() != counted.size()) return;  // chosen ones
  for (std::size_t i = 0; i < counted.size(); ++i)
    EXPECT_EQ(prediction.steps[i], counted[i]->window.length()) << counted[i]->number;
}

TEST_P(Recordings, HaveCriticalPathsThatCoverTheirSteps) {
  const Analyses analyses(trace_);
  const Context context{trace_, analyses, {}, {}};
  const Replay replay = Replay::build(context);
  for (const Step& step : context.steps().steps) {
    Time at = step.window.begin;
    for (const PathPiece& piece : replay.critical_path(step)) {
      ASSERT_EQ(piece.interval.begin, at);
      ASSERT_LT(piece.interval.begin, piece.interval.end);
      at = piece.interval.end;
    }
    EXPECT_EQ(at, step.window.end) << step.number;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recordings, testing::ValuesIn(all_recordings()), name_of_recording);

}  // namespace
}  // namespace fathom
