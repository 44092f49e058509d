// Which processes are expected to ask for work, and the message about those that will not.
#include "capture/attach/kineto_targets.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fathom::capture {
namespace {

KinetoTarget ready(pid_t pid) {
  return {.pid = pid, .readable = true, .daemon = true, .torch = true};
}

std::string only_reason(const KinetoTarget& target) {
  const std::vector<std::string> reasons = reasons_against({target});
  return reasons.size() == 1 ? reasons.front() : "";
}

TEST(KinetoTargets, ProcessesWithTheVariableAndPyTorchAreExpected) {
  KinetoTarget plain = ready(2);
  plain.daemon = false;
  KinetoTarget early = ready(3);
  early.torch = false;
  EXPECT_EQ(expected_to_ask({ready(1), plain, early}), std::vector<pid_t>{1});
}

TEST(KinetoTargets, WorkersThatWereForkedAreNot) {
  KinetoTarget worker = ready(2);
  worker.worker = true;
  EXPECT_EQ(expected_to_ask({ready(1), worker}), std::vector<pid_t>{1});
}

TEST(KinetoTargets, OfALauncherOnlyItsRanksAre) {
  KinetoTarget rank = ready(2);
  rank.rank = true;
  EXPECT_EQ(expected_to_ask({ready(1), rank}), std::vector<pid_t>{2});
}

TEST(KinetoTargets, NothingStandsAgainstOneThatWillAsk) {
  EXPECT_TRUE(reasons_against({ready(1)}).empty());
}

TEST(KinetoTargets, AMissingVariableIsNamedWithWhatToDo) {
  KinetoTarget target = ready(4);
  target.daemon = false;
  const std::string reason = only_reason(target);
  EXPECT_NE(reason.find("process 4 was not started with KINETO_USE_DAEMON=1"), std::string::npos);
  EXPECT_NE(reason.find("under fathom run"), std::string::npos);
}

TEST(KinetoTargets, ManyAreNamedByTheFirstFew) {
  std::vector<KinetoTarget> targets;
  for (pid_t pid = 1; pid <= 50; ++pid) {
    targets.push_back(ready(pid));
    targets.back().daemon = false;
  }
  const std::vector<std::string> reasons = reasons_against(targets);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_TRUE(reasons[0].starts_with("processes 1, 2, 3, 4, 5 and 45 more were not started"))
      << reasons[0];
}

TEST(KinetoTargets, AProgramWithoutPyTorchYetIsWaitedFor) {
  KinetoTarget target = ready(4);
  target.torch = false;
  EXPECT_NE(only_reason(target).find("has not loaded PyTorch yet"), std::string::npos);
}

TEST(KinetoTargets, AnEnvironmentThatMayNotBeReadIsNoProof) {
  EXPECT_NE(only_reason({.pid = 4}).find("may not be read"), std::string::npos);
}

TEST(KinetoTargets, AnEmptyEnvironmentIsProof) {
  constexpr pid_t kPid = 0x3ffffff0;  // No process has such a number.
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_empty_XXXXXX").string();
  const std::string root = mkdtemp(pattern.data());
  const std::string folder = root + "/proc/" + std::to_string(kPid);
  std::filesystem::create_directories(folder);
  EXPECT_FALSE(kineto_targets({kPid}, root).front().readable);
  std::ofstream(folder + "/environ") << "";
  EXPECT_TRUE(kineto_targets({kPid}, root).front().readable);
  EXPECT_FALSE(kineto_targets({kPid}, root).front().daemon);
  std::filesystem::remove_all(root);
}

TEST(KinetoTargets, ThisProcessIsFoundWithItsEnvironment) {
  const std::vector<KinetoTarget> targets = kineto_targets({getpid()});
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.front().pid, getpid());
  EXPECT_TRUE(targets.front().readable);
  EXPECT_FALSE(targets.front().torch);
}

}  // namespace
}  // namespace fathom::capture
