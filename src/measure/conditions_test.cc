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

TEST_F(MadeMachine, KnowsHowShortMemoryIs) {
  put("proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 1 kB\nMemAvailable:    90000 kB\n");
  put("proc/pressure/memory", "some avg10=0.50 avg60=9.00 avg300=9.00 total=5\nfull avg10=0.00\n");
  Conditions conditions = conditions_at_start(root_.string());
  EXPECT_EQ(conditions.memory_available, 90000 * 1024);
  EXPECT_EQ(conditions.memory_pressure, 0.5);
  conditions.load_at_start.reset();
  conditions.host.governor.clear();
  conditions.host.memory = std::int64_t{1000000} * 1024;
  ASSERT_EQ(warnings_about(conditions).size(), 1U);
  EXPECT_NE(warnings_about(conditions)[0].find("are available"), std::string::npos);
  conditions.memory_available = std::int64_t{500000} * 1024;
  EXPECT_TRUE(warnings_about(conditions).empty());
  conditions.memory_pressure = 3.25;
  ASSERT_EQ(warnings_about(conditions).size(), 1U);
  EXPECT_NE(warnings_about(conditions)[0].find("waited for memory"), std::string::npos);
}

TEST_F(MadeMachine, WithoutSuchFilesKnowsNothing) {
  const Conditions conditions = conditions_at_start(root_.string());
  EXPECT_FALSE(conditions.memory_available);
  EXPECT_FALSE(conditions.memory_pressure);
  put("proc/meminfo", "MemAvailable: many kB\n");
  EXPECT_FALSE(conditions_at_start(root_.string()).memory_available);
}

TEST(Warnings, NameNeighboursOnGpus) {
  Conditions conditions;
  conditions.gpus = {{.gpu = 0, .programs = 0}, {.gpu = 1}, {.gpu = 2, .programs = 2}};
  const std::vector<std::string> warnings = warnings_about(conditions);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("2 other programs compute on GPU 2 before")) << warnings[0];
  conditions.gpus = {{.gpu = 0, .programs = 1, .memory_of_programs = std::int64_t{2} << 30U}};
  EXPECT_TRUE(warnings_about(conditions)[0].starts_with("another program computes on GPU 0 (2"))
      << warnings_about(conditions)[0];
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
