// What the launcher's options leave of a program: steps, ranges, times.
#include <set>

#include <gtest/gtest.h>

#include "tests/programs/recorded.h"
#include "wire/writer.h"

namespace fathom::test {
namespace {

Recorded run(const std::vector<std::string>& arguments, const std::string& options,
             const std::string& program = "sdk_program", Environment more = {}) {
  const Folder folder;
  more.emplace("FATHOM_SESSION", folder.path());
  more.emplace("FATHOM_OPTIONS", options);
  EXPECT_EQ(wait_for(start_program(program, arguments, more)), 0);
  return read_folder(folder);
}

using Names = std::set<std::string>;
Names annotations(const Recorded& recorded) {
  Names names;
  for (const RecordedSlice& slice : recorded.slices) {
    if (slice.category == "annotation") names.insert(slice.name);
  }
  return names;
}

std::set<std::int64_t> steps(const Recorded& recorded) {
  std::set<std::int64_t> numbers;
  for (const RecordedSlice& slice : recorded.slices) {
    if (slice.category == "step") numbers.insert(slice.value);
  }
  return numbers;
}

TEST(SdkLimits, StepsKeepsThoseOfTheSchedule) {
  const Recorded recorded =
      run({"steps", "12"},
          R"({"steps": {"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1}})");
  EXPECT_EQ(annotations(recorded), (Names{"work 3", "work 4", "work 7", "work 8"}));
  EXPECT_EQ(steps(recorded), (std::set<std::int64_t>{3, 4, 7, 8}));
  EXPECT_EQ(recorded.named("fathom run --steps").size(), 2U);
  EXPECT_EQ(recorded.facts.count("WARNING"), 0U);
}

TEST(SdkLimits, ThoseThatNobodyChoseLeaveAllSteps) {
  const Recorded recorded =
      run({"steps", "3"},
          R"({"steps": {"wait": 1, "warmup": 1, "active": 3, "repeat": 1, "skip_first": 0}})");
  EXPECT_EQ(annotations(recorded), (Names{"work 0", "work 1", "work 2"}));
}

TEST(SdkLimits, AProgramThatEndsBeforeItsStepsIsTold) {
  const Recorded recorded = run({"steps", "2"}, R"({"steps": {"wait": 5}})");
  EXPECT_TRUE(annotations(recorded).empty());
  ASSERT_EQ(recorded.facts.count("WARNING"), 1U);
  EXPECT_NE(recorded.facts.at("WARNING").find("2 calls of fathom::step()"), std::string::npos);
}

TEST(SdkLimits, TheProgramsOwnScheduleWins) {
  const Recorded recorded = run({"schedule"}, R"({"steps": {"wait": 50}})");
  EXPECT_EQ(annotations(recorded), (Names{"work 3", "work 4", "work 7", "work 8"}));
}

TEST(SdkLimits, ARangeIsKeptWithAllThatBeginsInsideOnAnyThread) {
  const Recorded recorded = run({"ranges"}, R"({"range": "wanted"})");
  EXPECT_EQ(annotations(recorded),
            (Names{"wanted", "elsewhere", "inside 0", "inside 1", "inside 2", "inside 3"}));
  EXPECT_EQ(recorded.named("wanted").size(), 8U);
  EXPECT_EQ(recorded.named("elsewhere").size(), 4U);
}

TEST(SdkLimits, StepsCountTheOccurrencesOfARange) {
  const Recorded recorded =
      run({"ranges"}, R"({"range": "wanted", "steps": {"wait": 1, "warmup": 0, "active": 2}})");
  EXPECT_EQ(annotations(recorded), (Names{"wanted", "elsewhere", "inside 1", "inside 2"}));
}

TEST(SdkLimits, ARangeThatDoesNotOccurIsTold) {
  const Recorded recorded = run({"ranges"}, R"({"range": "say \"x\""})");
  EXPECT_TRUE(annotations(recorded).empty());
  ASSERT_EQ(recorded.facts.count("WARNING"), 1U);
}

TEST(SdkLimits, RecordingBeginsAfterTheDelay) {
  constexpr std::int64_t kDelay = 300'000'000;
  constexpr std::int64_t kTick = 20'000'000;  // to which a process's start is known
  const std::int64_t before = wire::monotonic_ns();
  const Recorded recorded = run({"delayed"}, R"({"delay_s": 0.3})");
  ASSERT_EQ(recorded.named("in time").size(), 1U);
  EXPECT_GE(recorded.named("in time")[0].start, before + kDelay - kTick);
}

TEST(SdkLimits, RecordingEndsAfterTheDuration) {
  const Recorded recorded = run({"outlasts"}, R"({"duration_s": 0.3})");
  EXPECT_TRUE(annotations(recorded).empty());
}

#ifdef FATHOM_TEST_NVTX
TEST(SdkLimits, RangesOfNvtxOpenTheRecordingToo) {
  const std::string library = std::string(FATHOM_PROGRAMS) + "/libfathom_nvtx.so";
  const Recorded recorded = run({"ranges"}, R"({"range": "outer"})", "nvtx_program",
                                {{"NVTX_INJECTION64_PATH", library}});
  EXPECT_EQ(annotations(recorded), (Names{"outer", "first", "second", "wide \u00e9\u20ac"}));
  EXPECT_TRUE(recorded.named("started").empty());
  EXPECT_EQ(recorded.instants.size(), 1U);
  const Recorded other = run({"ranges"}, R"({"range": "started"})", "nvtx_program",
                             {{"NVTX_INJECTION64_PATH", library}});
  EXPECT_TRUE(annotations(other).empty());
  EXPECT_EQ(other.named("started").size(), 1U);
  EXPECT_EQ(other.named("elsewhere").size(), 1U);
}

TEST(SdkLimits, StepsAreNotForNvtxWhichKnowsNone) {
  const std::string library = std::string(FATHOM_PROGRAMS) + "/libfathom_nvtx.so";
  const Recorded recorded = run({"ranges"}, R"({"steps": {"wait": 9}})", "nvtx_program",
                                {{"NVTX_INJECTION64_PATH", library}});
  EXPECT_EQ(recorded.named("outer").size(), 1U);
}
#endif

}  // namespace
}  // namespace fathom::test
