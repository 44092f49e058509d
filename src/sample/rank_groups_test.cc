// Ranks side by side: jobs that are made up process by process.
#include "sample/rank_groups.h"

#include <utility>

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

class Job {
 public:
  /// A rank in a function of train.py, or, where that is "", without a stack that is certain.
  Job& rank(std::int64_t number, pid_t pid, const std::string& function, std::int32_t line,
            char state = 'S', pid_t parent = 1) {
    ProcessLook process;
    process.pid = pid;
    process.parent = parent;
    process.python = "3.12.1";
    process.rank = number;
    ThreadLook thread;
    thread.task.id = pid;
    thread.task.state = state;
    thread.python = true;
    if (!function.empty()) {
      thread.stack = StackState::whole;
      thread.frames = {{.function = function, .file = "train.py", .line = line}};
    }
    process.threads.push_back(std::move(thread));
    processes_.push_back(std::move(process));
    return *this;
  }
  ProcessLook& last() { return processes_.back(); }
  [[nodiscard]] std::vector<RankGroup> groups() const { return rank_groups(processes_); }

 private:
  std::vector<ProcessLook> processes_;
};

using Ranks = std::vector<std::int64_t>;

TEST(RankGroups, TheOneAtAnotherLineIsOdd) {
  Job job;
  job.rank(3, 13, "load", 24).rank(1, 11, "all_reduce", 9).rank(0, 10, "all_reduce", 9);
  job.rank(2, 12, "all_reduce", 9);
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].ranks, (Ranks{0, 1, 2}));
  EXPECT_EQ(groups[0].pids, (std::vector<pid_t>{10, 11, 12}));
  EXPECT_FALSE(groups[0].odd);
  EXPECT_EQ(groups[1].ranks, Ranks{3});
  EXPECT_TRUE(groups[1].odd);
  EXPECT_EQ(groups[1].place->function, "load");
}

TEST(RankGroups, AnotherLineOfOneFunctionIsAnotherPlace) {
  Job job;
  job.rank(0, 10, "step", 9).rank(1, 11, "step", 9).rank(2, 12, "step", 10);
  ASSERT_EQ(job.groups().size(), 2U);
  EXPECT_TRUE(job.groups()[1].odd);
}

TEST(RankGroups, WithoutAMajorityNoneIsOdd) {
  Job job;
  job.rank(0, 10, "a", 1).rank(1, 11, "b", 2);
  for (const RankGroup& group : job.groups()) EXPECT_FALSE(group.odd);
  job.rank(2, 12, "a", 1).rank(3, 13, "b", 2);
  for (const RankGroup& group : job.groups()) EXPECT_FALSE(group.odd);
}

TEST(RankGroups, RunningAndSleepingAtOneLineAreGroupsAndNotOdd) {
  Job job;
  job.rank(0, 10, "step", 9, 'R').rank(1, 11, "step", 9, 'S').rank(2, 12, "step", 9, 'R');
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].ranks, (Ranks{0, 2}));
  EXPECT_FALSE(groups[0].odd || groups[1].odd);
}

TEST(RankGroups, OneThatIsStoppedIsOddAtTheSameLine) {
  Job job;
  job.rank(0, 10, "step", 9, 'R').rank(1, 11, "step", 9, 'T').rank(2, 12, "step", 9, 'S');
  for (const RankGroup& group : job.groups()) EXPECT_EQ(group.odd, group.ranks == Ranks{1});
}

TEST(RankGroups, OneThatHasEndedIsOdd) {
  Job job;
  job.rank(0, 10, "step", 9).rank(1, 11, "step", 9).rank(2, 12, "", 0);
  job.last().threads.clear();
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[1].odd);
  EXPECT_EQ(groups[1].state, 'Z');
}

TEST(RankGroups, AStackThatIsNotCertainIsNoOtherPlace) {
  Job job;
  job.rank(0, 10, "step", 9).rank(1, 11, "step", 9).rank(2, 12, "step", 9).rank(3, 13, "outer", 2);
  job.last().threads[0].stack = StackState::shortened;
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_FALSE(groups[1].place);
  EXPECT_FALSE(groups[1].odd);
}

TEST(RankGroups, WorkersOfARankAreNotRanks) {
  Job job;
  job.rank(0, 10, "step", 9).rank(0, 20, "worker", 5, 'S', 10).rank(0, 30, "worker", 5, 'S', 20);
  EXPECT_TRUE(job.groups().empty()) << "one rank alone";
  job.rank(1, 11, "step", 9);
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].pids, (std::vector<pid_t>{10, 11}));
}

TEST(RankGroups, AShellThatStartsARankIsNone) {
  Job job;
  job.rank(0, 10, "", 0);
  job.last().python.clear();
  job.rank(0, 20, "step", 9, 'S', 10).rank(1, 21, "step", 9);
  const std::vector<RankGroup> groups = job.groups();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].pids, (std::vector<pid_t>{20, 21}));
}

TEST(RankGroups, ParentsInACircleAreNoEndlessWalk) {
  Job job;
  job.rank(0, 10, "a", 1, 'S', 11).rank(0, 11, "a", 1, 'S', 10);
  job.rank(1, 12, "a", 1, 'S', 12);
  EXPECT_FALSE(job.groups().empty());
}

}  // namespace
}  // namespace fathom::sample
