#include "capture/doctor/checks.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/descriptor.h"
#include "capture/doctor/doctor_test_support.h"

namespace fathom::capture {
namespace {

/// A folder with files in place of /proc, /dev and /sys, and an environment of its own.
class Doctor : public testing::Test {
 protected:
  void SetUp() override {
    variables().clear();
    around_.variable = [](const char* name) -> const char* {
      const auto at = variables().find(name);
      return at == variables().end() ? nullptr : at->second.c_str();
    };
  }
  void put(const std::string& path, const std::string& text) const { machine_.put(path, text); }
  void put_driver() const {
    put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module 550.54\n");
  }
  /// What the function pointer can reach.
  static std::map<std::string, std::string>& variables() {
    static std::map<std::string, std::string> all;
    return all;
  }
  [[nodiscard]] const std::string& root() const { return machine_.root(); }
  MadeMachine machine_;
  Surroundings around_ = machine_.around(false);
};

/// The check of that name, or one of no name.
Check named(const std::vector<Check>& checks, std::string_view what) {
  const auto at = std::ranges::find(checks, what, &Check::what);
  return at == checks.end() ? Check{} : *at;
}

TEST_F(Doctor, NothingIsSaidOfProfilersWhereThereAreNone) {
  put("/proc/1/comm", "init\n");
  EXPECT_TRUE(subscriber_checks(around_).empty());
  EXPECT_TRUE(gpu_access_checks(around_).empty());
}

TEST_F(Doctor, VariablesThatInjectALibraryAreNamedWithWhatTheyTake) {
  variables()["CUDA_INJECTION64_PATH"] = "/opt/nsys/libToolsInjection64.so";
  variables()["NVTX_INJECTION64_PATH"] = "/opt/other/libnvtx.so";
  const std::vector<Check> checks = subscriber_checks(around_);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].detail, "CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so");
  EXPECT_EQ(checks[0].state, CheckState::limited);
  EXPECT_EQ(checks[0].remedy, "unset CUDA_INJECTION64_PATH for this run");
  EXPECT_NE(checks[1].lost.find("NVTX"), std::string::npos);
}

TEST_F(Doctor, OurOwnInjectionIsNoOtherProfiler) {
  variables()["CUDA_INJECTION64_PATH"] = "/tmp/libfathom_cuda.so";
  EXPECT_TRUE(subscriber_checks(around_).empty());
}

TEST_F(Doctor, AProfilerInLdPreloadIsNamedAndOtherLibrariesAreNot) {
  variables()["LD_PRELOAD"] = "/usr/lib/libjemalloc.so.2:/opt/nsys/libToolsInjectionProxy64.so";
  const std::vector<Check> checks = subscriber_checks(around_);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].detail, "LD_PRELOAD has /opt/nsys/libToolsInjectionProxy64.so");
}

TEST_F(Doctor, AProfilerThatStartedUsIsNamedOnce) {
  variables()["NSYS_PROFILING_SESSION_ID"] = "42";
  variables()["QUADD_INJECTION_PROXY"] = "CUDA";
  const std::vector<Check> checks = subscriber_checks(around_);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_NE(checks[0].detail.find("Nsight Systems"), std::string::npos);
}

TEST_F(Doctor, ProcessesOfProfilersAndOfDcgmAreFoundByTheirShortenedNames) {
  put("/proc/7/comm", "nv-nsight-cu-cl\n");
  put("/proc/8/comm", "nv-hostengine\n");
  put("/proc/self/comm", "ncu\n");
  const std::vector<Check> checks = subscriber_checks(around_);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(named(checks, "other profiler").detail, "nv-nsight-cu-cl runs (process 7)");
  const Check dcgm = named(checks, "DCGM");
  EXPECT_EQ(dcgm.detail, "nv-hostengine runs (process 8)");
  EXPECT_NE(dcgm.lost.find("counters"), std::string::npos);
  EXPECT_NE(dcgm.remedy.find("dcgmi profile --pause"), std::string::npos);
}

TEST_F(Doctor, DcgmOfTheMachineIsFoundByItsPort) {
  put("/proc/net/tcp",
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:15B3 00000000:0000 0A 00000000:00000000\n");
  EXPECT_TRUE(subscriber_checks(around_).empty());  // Without a driver it serves no GPU of ours.
  put_driver();
  EXPECT_EQ(named(subscriber_checks(around_), "DCGM").detail,
            "something listens on port 5555, as nv-hostengine does");
}

TEST_F(Doctor, AConnectionToAPortIsNoListener) {
  put_driver();
  put("/proc/net/tcp", "   0: 0100007F:15B3 0100007F:9999 01 00000000:00000000\n");
  EXPECT_TRUE(subscriber_checks(around_).empty());
}

TEST_F(Doctor, AMachineWithoutADriverIsToldHowAContainerGetsOne) {
  const Check driver = named(gpu_permission_checks(around_), "driver");
  EXPECT_EQ(driver.state, CheckState::missing);
  EXPECT_NE(driver.remedy.find("--gpus all"), std::string::npos);
}

TEST_F(Doctor, AContainerWithoutTheDriversFilesOfProcHasADriverByItsDeviceFile) {
  put("/dev/nvidiactl", "");
  put("/dev/nvidia0", "");
  const std::vector<Check> checks = gpu_permission_checks(around_);
  EXPECT_TRUE(has_nvidia_driver(around_));
  EXPECT_EQ(named(checks, "driver").state, CheckState::fine);
  EXPECT_NE(named(checks, "driver").detail.find("/dev/nvidiactl"), std::string::npos);
  EXPECT_EQ(named(checks, "device files").state, CheckState::fine);
  EXPECT_EQ(named(checks, "hardware counters").state, CheckState::fact);
  EXPECT_NE(named(cuda_checks(root()), "MIG").detail.find("not known"), std::string::npos);
}

/// As root a program that uses CUDA makes the file where there is no kernel module. A socket
/// answers as such a file does.
TEST_F(Doctor, AControlFileWithoutAModuleBehindItIsNoDriver) {
  std::filesystem::create_directories(root() + "/dev");
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string path = root() + "/dev/nvidiactl";
  ASSERT_LT(path.size(), sizeof at.sun_path);
  path.copy(at.sun_path, path.size());
  const Descriptor listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  EXPECT_FALSE(has_nvidia_driver(around_));
  EXPECT_EQ(named(gpu_permission_checks(around_), "driver").state, CheckState::missing);
}

TEST_F(Doctor, WslHasADriverAndOneFileForAllDevices) {
  put("/dev/dxg", "");
  const std::vector<Check> checks = gpu_permission_checks(around_);
  EXPECT_TRUE(has_nvidia_driver(around_));
  EXPECT_NE(named(checks, "driver").detail.find("WSL"), std::string::npos);
  EXPECT_EQ(named(checks, "device files").state, CheckState::fine);
  EXPECT_EQ(named(checks, "device files").detail, "1 of 1 can be opened");
}

TEST_F(Doctor, WhereNvmlStartsThereIsADriverWhoseFilesAreNotMissed) {
  EXPECT_FALSE(has_nvidia_driver(around_));
  around_.nvml_starts = [] { return true; };
  const std::vector<Check> checks = gpu_permission_checks(around_);
  EXPECT_TRUE(has_nvidia_driver(around_));
  EXPECT_EQ(named(checks, "driver").state, CheckState::fine);
  EXPECT_EQ(std::ranges::count(checks, "device files", &Check::what), 0);
}

TEST_F(Doctor, AContainerWithoutDeviceFilesIsToldToPassThem) {
  put_driver();
  std::filesystem::create_directories(root() + "/dev");
  const Check devices = named(gpu_permission_checks(around_), "device files");
  EXPECT_EQ(devices.state, CheckState::missing);
  EXPECT_NE(devices.remedy.find("--gpus all"), std::string::npos);
}

TEST_F(Doctor, AContainerThatWasGivenNoGpuOrOnlyAPartOfTheDriverIsTold) {
  variables()["NVIDIA_VISIBLE_DEVICES"] = "void";
  EXPECT_EQ(named(gpu_access_checks(around_), "access to GPUs").state, CheckState::missing);
  variables().clear();
  variables()["NVIDIA_DRIVER_CAPABILITIES"] = "compute";
  const Check without_nvml = named(gpu_access_checks(around_), "access to GPUs");
  EXPECT_EQ(without_nvml.state, CheckState::limited);
  EXPECT_EQ(without_nvml.lost, "GPU telemetry");
  variables()["NVIDIA_DRIVER_CAPABILITIES"] = "all";
  EXPECT_TRUE(gpu_access_checks(around_).empty());
}

TEST_F(Doctor, AnEmptyListOfCudaDevicesHidesAllOfThem) {
  variables()["CUDA_VISIBLE_DEVICES"] = "";
  ASSERT_EQ(gpu_access_checks(around_).size(), 1U);
  variables()["CUDA_VISIBLE_DEVICES"] = "0,1";
  EXPECT_TRUE(gpu_access_checks(around_).empty());
}

TEST_F(Doctor, RestrictedCountersNeedACapabilityWhicheverUserAsks) {
  put_driver();
  put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  put("/proc/self/status", "CapEff:\t00000000a80425fb\n");  // What Docker gives to root.
  const Check closed = named(gpu_permission_checks(around_), "hardware counters");
  EXPECT_EQ(closed.state, CheckState::missing);
  EXPECT_NE(closed.remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_NE(closed.remedy.find("SYS_ADMIN"), std::string::npos);
  put("/proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_EQ(named(gpu_permission_checks(around_), "hardware counters").state, CheckState::fine);
  put("/proc/self/status", "CapEff:\t0000000000000000\n");
  put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_EQ(named(gpu_permission_checks(around_), "hardware counters").state, CheckState::fine);
}

TEST_F(Doctor, PerfEventsAreJudgedByTheKernelsSetting) {
  put("/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t2\n");
  put("/proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(named(permission_checks(root()), "perf_event").state, CheckState::fine);
  put("/proc/sys/kernel/perf_event_paranoid", "4\n");
  const Check closed = named(permission_checks(root()), "perf_event");
  EXPECT_EQ(closed.state, CheckState::missing);
  EXPECT_NE(closed.detail.find("perf_event_paranoid is 4"), std::string::npos);
  EXPECT_NE(closed.remedy.find("CAP_PERFMON"), std::string::npos);
}

TEST_F(Doctor, PtraceIsLimitedByYamaUnlessACapabilityLiftsIt) {
  put("/proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(named(permission_checks(root()), "ptrace").state, CheckState::fine);
  put("/proc/sys/kernel/yama/ptrace_scope", "0\n");
  EXPECT_EQ(named(permission_checks(root()), "ptrace").state, CheckState::fine);
  put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  const Check own = named(permission_checks(root()), "ptrace");
  EXPECT_EQ(own.state, CheckState::limited);
  for (const char* command : {"fathom dump", "fathom sample", "fathom attach"})
    EXPECT_NE(own.lost.find(command), std::string::npos) << command;
  EXPECT_NE(own.remedy.find("SYS_PTRACE"), std::string::npos);
  put("/proc/sys/kernel/yama/ptrace_scope", "2\n");
  EXPECT_EQ(named(permission_checks(root()), "ptrace").state, CheckState::limited);
  put("/proc/self/status", "CapEff:\t0000000000080000\n");
  EXPECT_EQ(named(permission_checks(root()), "ptrace").state, CheckState::fine);
  put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(named(permission_checks(root()), "ptrace").state, CheckState::fine);
  put("/proc/sys/kernel/yama/ptrace_scope", "3\n");
  const Check never = named(permission_checks(root()), "ptrace");
  EXPECT_EQ(never.state, CheckState::limited);
  EXPECT_NE(never.remedy.find("next start of the machine"), std::string::npos);
}

TEST_F(Doctor, TheVersionOfControlGroupsIsSaid) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_NE(named(limit_checks(root()), "container").detail.find("version 2"), std::string::npos);
}

}  // namespace
}  // namespace fathom::capture
