// The replay on every recording: unchanged it reproduces the recording, and little of that is owed
// to delays that nothing explains.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "replay/replay.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// Recordings that are kept elsewhere: FATHOM_DATA, or beside the repository. May not be there.
fs::path shared_data() {
  const char* set = std::getenv("FATHOM_DATA");
  return set != nullptr ? fs::path(set) : fs::path(FATHOM_SOURCE_DIR) / "../shared/data";
}

std::vector<std::string> recordings() {
  const fs::path root(FATHOM_SOURCE_DIR);
  std::vector<std::string> out;
  for (const fs::path& folder :
       {root / "tests/data/traces", root / "tests/data/torch", root / "tests/data/plain",
        root / "examples", shared_data() / "kineto", shared_data() / "kineto-multirank",
        shared_data() / "torch-cpu"}) {
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      const bool trace = path.ends_with(".json.gz") && path.find("expected") == std::string::npos;
      if (trace && !path.ends_with("_et.json.gz")) out.push_back(path);
    }
  }
  std::ranges::sort(out);
  return out;
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

INSTANTIATE_TEST_SUITE_P(
    All, Recordings, testing::ValuesIn(recordings()),
    [](const testing::TestParamInfo<std::string>& test) {
      std::string name = fs::path(test.param).filename().string();
      name = name.substr(0, name.find(".json"));
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return std::to_string(test.index) + "_" + name;
    });

}  // namespace
}  // namespace fathom
