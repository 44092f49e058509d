#include "capture/system/host.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

/// A folder with files in place of /proc and /sys.
class Machine : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "machineXXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(Machine, TheTightestLimitOfVersionTwoCounts) {
  put("/proc/self/cgroup", "0::/pod/box\n");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
  put("/sys/fs/cgroup/pod/box/memory.max", "max\n");
  put("/sys/fs/cgroup/pod/box/memory.current", "4096\n");
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/pod/box/pids.max", "512\n");
  put("/sys/fs/cgroup/pod/box/memory.events", "low 0\noom 2\noom_kill 1\n");
  const Cgroup group = read_cgroup(root_);
  EXPECT_EQ(group.version, 2);
  EXPECT_EQ(group.path, "/pod/box");
  EXPECT_EQ(group.memory_limit, 1073741824);
  EXPECT_EQ(group.memory_used, 4096);
  EXPECT_EQ(group.cpus, 1.5);
  EXPECT_EQ(group.pids_limit, 512);
  EXPECT_EQ(group.oom_kills, 1);
}

TEST_F(Machine, VersionOneSaysNoLimitByAHugeNumber) {
  put("/proc/self/cgroup", "5:cpu,cpuacct:/box\n4:memory:/box\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2147483648\n");
  put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  const Cgroup group = read_cgroup(root_);
  EXPECT_EQ(group.version, 1);
  EXPECT_EQ(group.memory_limit, 2147483648);
  EXPECT_FALSE(group.cpus);
}

TEST_F(Machine, WhatIsNotThereStaysUnknown) {
  const Cgroup group = read_cgroup(root_);
  EXPECT_EQ(group.version, 0);
  EXPECT_FALSE(group.memory_limit);
  EXPECT_FALSE(read_load(root_));
  EXPECT_EQ(read_host(root_).cpu, "");
}

TEST_F(Machine, TheProcessorIsNamedAsTheKernelHasIt) {
  put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\n");
  put("/proc/meminfo", "MemTotal:       1024 kB\n");
  put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const Host host = read_host(root_);
  EXPECT_EQ(host.cpu, "Fast CPU @ 3GHz");
  EXPECT_EQ(host.memory, 1'048'576);
  EXPECT_EQ(host.governor, "powersave");
}

}  // namespace
}  // namespace fathom::capture
