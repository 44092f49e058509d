// Programs with annotations, from their first to their last moment, and what they leave behind.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/programs/recorded.h"
#include "wire/writer.h"

namespace fathom::test {
namespace {

/// The thread sanitizer gives up in a child that starts a thread.
#ifdef FATHOM_SANITIZE_THREAD
constexpr bool kCanFork = false;
#else
constexpr bool kCanFork = true;
#endif
constexpr const char* kNoForks = "no forks under the thread sanitizer";

constexpr std::int64_t kHalfASecond = 500'000'000;

struct Outcome {
  Recorded recorded;
  std::vector<std::string> files;
  int status = -1;
};

Outcome run(const std::vector<std::string>& arguments, Environment environment = {}) {
  const Folder folder;
  environment["FATHOM_SESSION"] = folder.path();
  const int pid = start_program("sdk_program", arguments, environment);
  Outcome outcome;
  outcome.status = wait_for(pid);
  outcome.files = folder.files();
  outcome.recorded = read_folder(folder);
  return outcome;
}

TEST(SdkProgram, RecordsEveryScopeOfEveryThreadInOneFile) {
  const Outcome outcome = run({"threads"});
  ASSERT_EQ(outcome.status, 0);
  ASSERT_EQ(outcome.files.size(), 1U);
  EXPECT_EQ(outcome.recorded.named("outer").size(), 40'000U);
  EXPECT_EQ(outcome.recorded.named("inner").size(), 40'000U);
  std::set<std::string> names;
  for (const auto& [tid, name] : outcome.recorded.threads) names.insert(name);
  EXPECT_TRUE(names.contains("worker 0") && names.contains("worker 3"));
  EXPECT_EQ(outcome.recorded.dropped, 0U);
  EXPECT_EQ(outcome.recorded.damaged_bytes, 0U);
  EXPECT_EQ(outcome.recorded.roles, std::vector<std::string>{"main"});
}

TEST(SdkProgram, ScopesOfAThreadNest) {
  const Outcome outcome = run({"threads"});
  std::vector<RecordedSlice> slices = outcome.recorded.slices;
  std::ranges::sort(slices, [](const RecordedSlice& a, const RecordedSlice& b) {
    return std::tuple(a.tid, a.start, -a.end(), b.name) <
           std::tuple(b.tid, b.start, -b.end(), a.name);
  });
  std::vector<RecordedSlice> stack;
  for (const RecordedSlice& slice : slices) {
    while (!stack.empty() && (stack.back().tid != slice.tid || stack.back().end() <= slice.start))
      stack.pop_back();
    if (!stack.empty()) {
      ASSERT_LE(slice.end(), stack.back().end());
    }
    stack.push_back(slice);
  }
}

TEST(SdkProgram, TimesAreOfTheMonotonicClock) {
  const std::int64_t before = wire::monotonic_ns();
  const Outcome outcome = run({"threads"});
  const std::int64_t after = wire::monotonic_ns();
  for (const RecordedSlice& slice : outcome.recorded.slices) {
    ASSERT_GE(slice.start, before);
    ASSERT_LE(slice.end(), after);
  }
}

TEST(SdkProgram, RecordsFromStaticInitialisersToTheEndsOfThreadsAndDestructors) {
  const Outcome outcome = run({"ends"}, {{"ANNOTATE_GLOBALS", "1"}});
  ASSERT_EQ(outcome.status, 0);
  for (const char* const name :
       {"static initialiser", "static destructor", "thread begins", "thread ends"})
    EXPECT_EQ(outcome.recorded.named(name).size(), 1U) << name;
}

TEST(SdkProgram, SaysWhatTheThreadThatStepsDid) {
  const Outcome outcome = run({"steps", "2000"});
  ASSERT_EQ(outcome.status, 0);
  const auto ns = [&](const char* name) {
    const auto found = outcome.recorded.facts.find(std::string("thread_time.main.") + name);
    return found == outcome.recorded.facts.end() ? -1 : std::stoll(found->second);
  };
  EXPECT_GT(ns("wall_ns"), 0);
  EXPECT_GE(ns("cpu_ns"), 0);
  EXPECT_GE(ns("preempted_ns"), 0);
  // Nothing waits but for locks; the clocks are read one after the other.
  EXPECT_LE(ns("cpu_ns"), ns("wall_ns") + kHalfASecond);
  EXPECT_FALSE(run({"threads"}).recorded.facts.contains("thread_time.main.wall_ns"));
}

TEST(SdkProgram, ForgetsThreadsThatHaveEndedButNotWhatTheyDid) {
  const Outcome outcome =
      run({"many_threads"}, {{"FATHOM_OPTIONS", R"({"max_memory_bytes": 2097152})"}});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.recorded.instants.size() + outcome.recorded.dropped, 500U);
  EXPECT_EQ(outcome.recorded.dropped, 0U);
}

TEST(SdkProgram, WritesWhatWasRecordedBeforeASignalEndsIt) {
  for (const auto& [how, number] :
       {std::pair("segv", SIGSEGV), std::pair("abort", SIGABRT), std::pair("term", SIGTERM)}) {
    // A sanitizer would catch the signal before us.
    const Outcome outcome = run({"crash", how}, {{"ASAN_OPTIONS", "handle_segv=0:handle_abort=0"}});
    EXPECT_TRUE(WIFSIGNALED(outcome.status)) << how;
    EXPECT_EQ(WTERMSIG(outcome.status), number) << how;
    EXPECT_EQ(outcome.recorded.named("before").size(), 1U) << how;
    ASSERT_EQ(outcome.recorded.begun.size(), 1U) << how;
    EXPECT_EQ(outcome.recorded.begun[0].name, "crashing") << how;
  }
}

TEST(SdkProgram, WritesWhatIsOpenWhenItExits) {
  const Outcome outcome = run({"crash", "exit"});
  EXPECT_EQ(WEXITSTATUS(outcome.status), 3);
  EXPECT_EQ(outcome.recorded.named("before").size(), 1U);
  ASSERT_EQ(outcome.recorded.begun.size(), 1U);
}

TEST(SdkProgram, WritesWhatItHasWhenItExitsQuickly) {
  const Outcome outcome = run({"crash", "quick_exit"});
  EXPECT_EQ(WEXITSTATUS(outcome.status), 4);
  EXPECT_EQ(outcome.recorded.named("before").size(), 1U);
}

TEST(SdkProgram, LosesNothingHoweverItLeaves) {
  for (const char* const how : {"_exit", "_Exit", "thread", "pointer", "handler"}) {
    const Outcome outcome = run({"crash", how});
    EXPECT_TRUE(WIFEXITED(outcome.status)) << how;
    EXPECT_EQ(WEXITSTATUS(outcome.status), 5) << how;
    EXPECT_EQ(outcome.recorded.named("before").size(), 1U) << how;
    ASSERT_EQ(outcome.recorded.begun.size(), 1U) << how;
    EXPECT_EQ(outcome.recorded.begun[0].name, "crashing") << how;
  }
}

TEST(SdkProgram, ChildrenThatLeaveAtOnceWriteTheirOwnAlone) {
  if (!kCanFork) GTEST_SKIP() << kNoForks;
  const Outcome outcome = run({"children"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.files.size(), 2U);
  for (const char* const name : {"before", "in child", "after"})
    EXPECT_EQ(outcome.recorded.named(name).size(), 1U) << name;
}

TEST(SdkProgram, TheExampleRecordsHalfOfItsSteps) {
  const Folder folder;
  EXPECT_EQ(wait_for(start_program("sdk_example", {folder.path()}, {})), 0);
  const Recorded recorded = read_folder(folder);
  std::size_t steps = 0;
  for (const RecordedSlice& slice : recorded.slices) steps += slice.category == "step";
  EXPECT_EQ(steps, 10U);
  EXPECT_EQ(recorded.named("forward").size(), 10U);
  EXPECT_EQ(recorded.samples.size(), 10U);
  EXPECT_EQ(recorded.threads.begin()->second, "trainer");
}

TEST(SdkProgram, KilledAtOnceItLosesHalfASecondAtMost) {
  const Folder folder;
  const int pid = start_program("sdk_program", {"forever"}, {{"FATHOM_SESSION", folder.path()}});
  // Killed when the scope around it all has been written, which takes two ticks.
  constexpr timespec kPause{0, 2'000'000};
  const std::int64_t begun = wire::monotonic_ns();
  while (read_folder(folder).begun.empty() && wire::monotonic_ns() - begun < 60 * kHalfASecond)
    nanosleep(&kPause, nullptr);
  nanosleep(&kPause, nullptr);
  const std::int64_t killed = wire::monotonic_ns();
  kill(pid, SIGKILL);
  wait_for(pid);
  const Recorded recorded = read_folder(folder);
  EXPECT_GE(recorded.last_time, killed - kHalfASecond);
  EXPECT_GT(recorded.instants.size(), 10U);
  EXPECT_EQ(recorded.damaged_bytes, 0U);
}

TEST(SdkProgram, AForkedChildWritesAFileOfItsOwn) {
  if (!kCanFork) GTEST_SKIP() << kNoForks;
  const Outcome outcome = run({"forks"});
  ASSERT_EQ(outcome.status, 0);
  ASSERT_EQ(outcome.files.size(), 2U);
  for (const char* const name :
       {"before fork", "in child", "thread of child", "after fork", "around fork"})
    EXPECT_EQ(outcome.recorded.named(name).size(), 1U) << name;
  EXPECT_NE(outcome.recorded.named("in child").at(0).pid,
            outcome.recorded.named("before fork").at(0).pid);
  EXPECT_EQ(std::ranges::count(outcome.recorded.roles, "child"), 1);
}

TEST(SdkProgram, AThousandThreadsThatComeAndGoLoseNothing) {
  const Recorded recorded = run({"crowds"}).recorded;
  EXPECT_EQ(recorded.named("in a crowd").size(), 20'000U);
  EXPECT_EQ(recorded.dropped, 0U);
}

TEST(SdkProgram, ExceptionsEndTheScopesThatTheyLeave) {
  const Recorded recorded = run({"exceptions"}).recorded;
  EXPECT_EQ(recorded.named("left by an exception").size(), 50U);
  EXPECT_EQ(recorded.instants.size(), 10U);
  for (const RecordedSlice& left : recorded.named("left by an exception"))
    EXPECT_LE(left.start + left.duration, recorded.named("after them").at(0).start);
}

TEST(SdkProgram, AThreadThatIsCancelledInTheRecorderEndsBehindIt) {
  const Outcome outcome = run({"cancelled"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.recorded.named("before the cancellation").size(), 1U);
  EXPECT_EQ(outcome.recorded.instants.size(), 1U);
}

TEST(SdkProgram, NamesMayBeOddAndLongOnesAreCutBetweenCharacters) {
  const Outcome outcome = run({"odd_names"});
  ASSERT_EQ(outcome.status, 0);
  const Recorded& recorded = outcome.recorded;
  constexpr std::size_t kLongest = 4096;
  EXPECT_EQ(recorded.named(std::string(kLongest, 'x')).size(), 1U);
  std::string euros = "b";
  while (euros.size() + 3 <= kLongest) euros += "\xe2\x82\xac";
  EXPECT_EQ(recorded.named(euros).size(), 1U);
  EXPECT_EQ(recorded.named("\"quoted\" \\ \n\x01").size(), 1U);
  EXPECT_EQ(recorded.named("null").size(), 1U);
  for (const auto& [tid, name] : recorded.threads) EXPECT_LE(name.size(), kLongest);
  EXPECT_EQ(recorded.damaged_bytes, 0U);
}

TEST(SdkProgram, WhatWaitsToBeWrittenWhenItForksIsWrittenOnce) {
  if (!kCanFork) GTEST_SKIP() << kNoForks;
#ifdef FATHOM_SANITIZE_ADDRESS
  GTEST_SKIP() << "gcc 12's sanitizer does not take its own locks over fork()";
#endif
  const Outcome outcome = run({"forks_after_threads"});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.recorded.named("of a thread").size(), 3000U);
  EXPECT_EQ(outcome.recorded.named("in child").size(), 1U);
}

TEST(SdkProgram, CanForkWhileOtherThreadsRecord) {
  if (!kCanFork) GTEST_SKIP() << kNoForks;
#ifdef FATHOM_SANITIZE_ADDRESS
  GTEST_SKIP() << "gcc 12's sanitizer does not take its own locks over fork()";
#endif
  const Outcome outcome =
      run({"forks_in_a_storm"},
          {{"FATHOM_OPTIONS", R"({"max_memory_bytes": 8388608, "max_size_bytes": 67108864})"}});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.files.size(), 21U);
  EXPECT_EQ(outcome.recorded.named("in child").size(), 20U);
}

TEST(SdkProgram, CountersStepsAndFramesHaveNumbers) {
  const Recorded recorded = run({"values"}).recorded;
  ASSERT_EQ(recorded.samples.size(), 2U);
  EXPECT_EQ(recorded.samples[0].counter, "queue");
  EXPECT_EQ(recorded.samples[0].unit, "batches");
  EXPECT_EQ(recorded.samples[0].value, 3);
  EXPECT_EQ(recorded.samples[1].value, 0.5);
  std::vector<RecordedSlice> steps = recorded.named("step");
  ASSERT_EQ(steps.size(), 3U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].category, "step");
    EXPECT_EQ(steps[i].value, static_cast<std::int64_t>(i));
    if (i > 0) {
      EXPECT_EQ(steps[i].start, steps[i - 1].end());
    }
  }
  const std::vector<RecordedSlice> frames = recorded.named("request");
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].category, "frame");
  EXPECT_EQ(frames[1].value, 1);
  EXPECT_EQ(recorded.facts.at("stream.2a"), "copies");
}

TEST(SdkProgram, AProfileKeepsTheActiveStepsOfItsSchedule) {
  const Recorded recorded = run({"schedule"}).recorded;
  std::set<std::string> work;
  std::set<std::int64_t> steps;
  for (const RecordedSlice& slice : recorded.slices) {
    if (slice.category == "annotation") work.insert(slice.name);
    if (slice.category == "step") steps.insert(slice.value);
  }
  EXPECT_EQ(work, (std::set<std::string>{"work 3", "work 4", "work 7", "work 8"}));
  EXPECT_EQ(steps, (std::set<std::int64_t>{3, 4, 7, 8}));
  EXPECT_EQ(recorded.named("fathom::profile").size(), 2U);
}

TEST(SdkProgram, WithoutASessionNothingIsRecorded) {
  const Folder folder;
  const int status = wait_for(start_program("sdk_program", {"nothing"}, {}));
  EXPECT_EQ(status, 0);
}

TEST(SdkProgram, ASessionThatIsNotToBeginAtTheStartWaitsForTheProgram) {
  const Outcome outcome = run({"nothing"}, {{"FATHOM_OPTIONS", R"({"from_start": false})"}});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.files.empty());
}

TEST(SdkProgram, RecordsIntoAFolderThatItNames) {
  const Folder folder;
  const std::string inner = folder.path() + "/made/on/the/way";
  EXPECT_EQ(wait_for(start_program("sdk_program", {"start_in", inner}, {})), 0);
  Recorded recorded;
  for (const auto& entry : std::filesystem::directory_iterator(inner))
    recorded = read_file(entry.path());
  ASSERT_EQ(recorded.slices.size(), 1U);
  EXPECT_EQ(recorded.slices[0].name, "recorded");
}

TEST(SdkProgram, LosesNothingWhereItsMemoryIsSmall) {
  const Outcome outcome = run({"flood"}, {{"FATHOM_OPTIONS", R"({"max_memory_bytes": 1048576})"}});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.recorded.slices.size(), 300'000U);
}

TEST(SdkProgram, WhatIsBeyondTheSizeCapIsCounted) {
  const Outcome outcome = run({"flood"}, {{"FATHOM_OPTIONS", R"({"max_size_bytes": 4000000})"}});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.recorded.slices.size() + outcome.recorded.dropped, 300'000U);
}

TEST(SdkProgram, ScopesThatDoNotNestHaveTheirOwnTimes) {
  const Recorded recorded = run({"out_of_order"}).recorded;
  const RecordedSlice first = recorded.named("first").at(0);
  const RecordedSlice second = recorded.named("second").at(0);
  EXPECT_LE(first.start, second.start);
  EXPECT_LE(first.end(), second.end());
}

TEST(SdkProgram, WhatRunsAfterExecWritesBesideWhatRanBefore) {
  const Outcome outcome = run({"exec", "values"});
  EXPECT_EQ(outcome.files.size(), 2U);
  EXPECT_EQ(outcome.recorded.named("before exec").size(), 1U);
  EXPECT_EQ(outcome.recorded.named("step").size(), 3U);
}

}  // namespace
}  // namespace fathom::test
