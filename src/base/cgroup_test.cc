#include "base/cgroup.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// A folder of files that takes the place of /proc and /sys.
class FakeMachine : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("cgroup_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string path(const std::string& below) const { return root_ / below; }
  [[nodiscard]] Roots roots() const { return {.proc = path("proc"), .sys = path("sys")}; }

 private:
  std::filesystem::path root_;
};

TEST_F(FakeMachine, TakesTheTightestLimitOfVersion2) {
  write("proc/self/cgroup", "0::/pod/container\n");
  write("proc/self/mountinfo",
        "31 23 0:28 / " + path("cg") + " rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  write("cg/cgroup.procs", "1\n");
  write("cg/pod/cgroup.procs", "1\n");
  write("cg/pod/memory.max", "2147483648\n");
  write("cg/pod/cpu.max", "max 100000\n");
  write("cg/pod/container/cgroup.procs", "1\n");
  write("cg/pod/container/memory.max", "max\n");
  write("cg/pod/container/cpu.max", "150000 100000\n");
  const CgroupFolders memory = find_cgroup(roots(), "self", "memory");
  EXPECT_TRUE(memory.second);
  ASSERT_EQ(memory.folders.size(), 3U);
  EXPECT_EQ(memory.folders[0], path("cg/pod/container"));
  const CgroupLimits limits = read_cgroup_limits(memory, find_cgroup(roots(), "self", "cpu"));
  EXPECT_EQ(limits.memory_bytes, 2147483648);
  EXPECT_EQ(limits.cores, 1.5);
}

TEST_F(FakeMachine, ReadsVersion1WithAControllerEach) {
  write("proc/self/cgroup", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n");
  write("proc/self/mountinfo", "35 31 0:32 /docker/abc " + path("memory") +
                                   " rw - cgroup cgroup rw,memory\n" + "32 31 0:29 /docker/abc " +
                                   path("cpu") + " rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("memory/memory.usage_in_bytes", "1\n");
  write("memory/memory.limit_in_bytes", "1073741824\n");
  write("cpu/cpu.cfs_quota_us", "50000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  const CgroupFolders memory = find_cgroup(roots(), "self", "memory");
  EXPECT_FALSE(memory.second);
  ASSERT_EQ(memory.folders.size(), 1U);
  const CgroupLimits limits = read_cgroup_limits(memory, find_cgroup(roots(), "self", "cpu"));
  EXPECT_EQ(limits.memory_bytes, 1073741824);
  EXPECT_EQ(limits.cores, 0.5);
}

TEST_F(FakeMachine, HasNoLimitsWithoutControlGroups) {
  EXPECT_TRUE(find_cgroup(roots(), "self", "memory").folders.empty());
  const CgroupLimits limits = read_cgroup_limits({}, {});
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_FALSE(limits.cores.has_value());
}

TEST(CpuMax, TellsALimitFromNone) {
  EXPECT_EQ(parse_cpu_max("50000 100000\n"), 0.5);
  EXPECT_FALSE(parse_cpu_max("max 100000\n").has_value());
  EXPECT_FALSE(parse_cpu_max("-1\n 100000\n").has_value());
  EXPECT_FALSE(parse_cpu_max("5 0").has_value());
  EXPECT_FALSE(parse_cpu_max("").has_value());
}

TEST(CpuStat, TakesTheUnitOfEitherVersion) {
  const auto second =
      parse_cpu_stat("usage_usec 9\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5\n");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->periods, 10);
  EXPECT_EQ(second->throttled_periods, 3);
  EXPECT_NEAR(second->throttled_seconds, 5e-6, 1e-12);
  const auto first = parse_cpu_stat("nr_periods 10\nnr_throttled 3\nthrottled_time 5000\n");
  EXPECT_NEAR(first->throttled_seconds, 5e-6, 1e-12);
  EXPECT_FALSE(parse_cpu_stat("usage_usec 9\n").has_value());
}

TEST(Limit, IsNoneWhereItIsHuge) {
  EXPECT_EQ(parse_limit("4096\n"), 4096);
  EXPECT_FALSE(parse_limit("max\n").has_value());
  EXPECT_FALSE(parse_limit("9223372036854771712\n").has_value());
  EXPECT_FALSE(parse_limit("").has_value());
}

TEST(Mounts, ReadEscapedPathsAndSkipOthers) {
  const auto mounts = parse_cgroup_mounts(
      "22 27 0:21 / /proc rw - proc proc rw\n31 23 0:28 / /a\\040b rw - cgroup2 x rw\nbroken - \n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].folder, "/a b");
}

}  // namespace
}  // namespace fathom
