#include "monitor/process_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

/// A folder of processes in the place of /proc.
class Processes : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("tree_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void start(int pid, int parent, const std::string& environment = {}) {
    const std::filesystem::path folder = root_ / std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "stat") << pid << " (p" << pid << ") S " << parent
                                   << " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 " << pid << " 0 0\n";
    std::ofstream(folder / "environ") << environment;
    std::ofstream(root_ / "loadavg") << "0 0 0 1/2 " << ++births_ << "\n";
  }
  void end(int pid) { std::filesystem::remove_all(root_ / std::to_string(pid)); }
  ProcessTree tree(int root, int launcher = 0, const std::string& session = {}) {
    return {Roots{.proc = root_, .sys = root_},
            {.root = root, .launcher = launcher, .session = session}};
  }
  static std::vector<int> pids(const ProcessTree& tree) {
    std::vector<int> all;
    for (const TreeProcess& process : tree.processes()) all.push_back(process.pid);
    return all;
  }

 private:
  std::filesystem::path root_;
  int births_ = 0;
};

TEST_F(Processes, HoldDescendantsAndNobodyElse) {
  start(1, 0);
  start(10, 1);
  start(11, 10);
  start(12, 11);
  start(20, 1);
  ProcessTree watched = tree(10);
  EXPECT_EQ(watched.update().joined.size(), 3U);
  EXPECT_EQ(pids(watched), (std::vector<int>{10, 11, 12}));
  EXPECT_TRUE(watched.contains(12));
  EXPECT_FALSE(watched.contains(20));
}

TEST_F(Processes, MayHaveAParentWithALargerPid) {
  start(10, 1);
  start(7, 12);  // pids have wrapped around
  start(12, 10);
  ProcessTree watched = tree(10);
  watched.update();
  EXPECT_EQ(pids(watched), (std::vector<int>{7, 10, 12}));
}

TEST_F(Processes, StayInTheTreeWhoeverAdoptsThem) {
  start(10, 1);
  start(11, 10);
  start(12, 11);
  ProcessTree watched = tree(10);
  watched.update();
  end(11);
  start(12, 1);  // adopted by init
  const auto changes = watched.update();
  ASSERT_EQ(changes.left.size(), 1U);
  EXPECT_EQ(changes.left[0].pid, 11);
  EXPECT_EQ(pids(watched), (std::vector<int>{10, 12}));
}

TEST_F(Processes, AreKnownByTheLauncherThatAdoptsThem) {
  start(5, 1);
  start(10, 5);
  start(14, 5);  // its parent was gone before anybody looked
  ProcessTree watched = tree(10, 5);
  watched.update();
  EXPECT_EQ(pids(watched), (std::vector<int>{10, 14}));
}

TEST_F(Processes, AreKnownByTheSessionInTheirEnvironment) {
  using std::string_literals::operator""s;
  start(10, 1);
  start(30, 1, "A=1\0FATHOM_SESSION=/runs/a\0B=2\0"s);
  start(31, 1, "A=1\0FATHOM_SESSION=/runs/ab\0"s);
  start(32, 1, "XFATHOM_SESSION=/runs/a\0"s);
  start(33, 30);
  ProcessTree watched = tree(10, 0, "/runs/a");
  watched.update();
  EXPECT_EQ(pids(watched), (std::vector<int>{10, 30, 33}));
}

TEST_F(Processes, AreMarkedThatRanBeforeTheyWereWatched) {
  start(10, 1);
  ProcessTree watched = tree(10);
  EXPECT_TRUE(watched.update().joined[0].older);
  start(11, 10);
  EXPECT_FALSE(watched.update().joined[0].older);
}

TEST_F(Processes, AreNotListedWhileNobodyIsBorn) {
  start(10, 1);
  ProcessTree watched = tree(10);
  watched.update();
  end(10);
  EXPECT_TRUE(watched.update().left.empty());
  start(11, 1);
  EXPECT_EQ(watched.update().left.size(), 1U);
}

TEST_F(Processes, AreNoneInAFolderOfNonsense) {
  start(10, 1);
  end(10);
  ProcessTree watched = tree(10);
  EXPECT_TRUE(watched.update().joined.empty());
}

}  // namespace
}  // namespace fathom::monitor
