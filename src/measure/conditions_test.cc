#include "measure/conditions.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// A machine that is made of files.
class MadeMachine : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / "fathom_conditions_test";
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
};

TEST_F(MadeMachine, CountsHowOftenTheQuotaHeldUsBack) {
  put("proc/loadavg", "3.5 1.0 0.5 1/100 1234\n");
  put("proc/self/cgroup", "0::/a\n");
  put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_throttled 7\n");
  Conditions conditions = conditions_at_start(root_.string());
  EXPECT_EQ(conditions.throttled, 7);
  put("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_throttled 19\n");
  put("proc/loadavg", "4.5 1.0 0.5 1/100 1234\n");
  end_conditions(conditions, root_.string());
  EXPECT_EQ(conditions.throttled, 12);
  EXPECT_DOUBLE_EQ((*conditions.load_at_start)[0], 3.5);
  EXPECT_DOUBLE_EQ((*conditions.load_at_end)[0], 4.5);
}

TEST(Warnings, AreAboutLoadAndGovernor) {
  Conditions conditions;
  conditions.host.cores = 8;
  conditions.host.governor = "performance";
  conditions.load_at_start = {1.0, 1.0, 1.0};
  EXPECT_TRUE(warnings_about(conditions).empty());
  conditions.load_at_start = {6.0, 1.0, 1.0};
  conditions.host.governor = "powersave";
  EXPECT_EQ(warnings_about(conditions).size(), 2U);
}

}  // namespace
}  // namespace fathom::measure
