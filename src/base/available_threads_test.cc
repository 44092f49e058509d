#include "base/available_threads.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace fathom {
namespace {

TEST(AvailableThreads, AreTheProcessorsCutToTheQuota) {
  EXPECT_EQ(threads_for(8, {}), 8U);
  EXPECT_EQ(threads_for(8, 2.0), 2U);
  EXPECT_EQ(threads_for(8, 1.5), 2U);
  EXPECT_EQ(threads_for(8, 0.1), 1U);
  EXPECT_EQ(threads_for(8, 64.0), 8U);
  EXPECT_EQ(threads_for(0, {}), 1U);
  EXPECT_EQ(threads_for(4, 1e300), 4U);
}

TEST(AvailableThreads, KnowTheQuotaOfEitherVersionOfControlGroups) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / "available_threads";
  const auto write = [&root](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  const Roots roots{.proc = root / "proc", .sys = root / "sys"};
  std::filesystem::remove_all(root);
  EXPECT_FALSE(cpu_quota(roots).has_value());

  const std::string folder = root / "cg";
  write("proc/self/cgroup", "0::/pod/container\n");
  write("proc/self/mountinfo", "31 23 0:28 / " + folder + " rw shared:9 - cgroup2 cgroup2 rw\n");
  write("cg/pod/container/cgroup.procs", "");
  write("cg/pod/container/cpu.max", "max 100000\n");
  EXPECT_FALSE(cpu_quota(roots).has_value());
  write("cg/pod/cgroup.procs", "");
  write("cg/pod/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(roots).value(), 2.5);

  write("proc/self/cgroup", "4:cpu,cpuacct:/pod\n");
  write("proc/self/mountinfo",
        "31 23 0:28 / " + folder + " rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
  write("cg/pod/cpu.cfs_quota_us", "50000\n");
  write("cg/pod/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(roots).value(), 0.5);
  write("cg/pod/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(cpu_quota(roots).has_value());
  std::filesystem::remove_all(root);
}

TEST(AvailableThreads, KnowTheAffinityOfTheThread) {
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(allowed_processors(), static_cast<unsigned>(CPU_COUNT(&all)));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &all)) continue;
      CPU_SET(processor, &one);
      break;
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(allowed_processors(), 1U);
  }).join();
}

TEST(AvailableThreads, AreAtLeastOne) { EXPECT_GE(available_threads(), 1U); }

}  // namespace
}  // namespace fathom
