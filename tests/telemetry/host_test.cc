// Telemetry of the host, from files of the kernel that stand in a folder.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "monitor/lane_run.h"
#include "tests/telemetry/recorded.h"

namespace fathom::monitor {
namespace {

/// A machine made of files, whose pids and counters the test decides.
class Host : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    write("proc/self/stat", "1 (x) S 0\n");
    write("proc/self/io", "x\n");
    write("proc/loadavg", "0.5 0 0 3/9 100\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void process(int pid, int user_ticks, const std::string& name = "p") const {
    write("proc/" + std::to_string(pid) + "/stat",
          std::to_string(pid) + " (" + name + ") R 1 0 0 0 0 0 5 0 6 0 " +
              std::to_string(user_ticks) + " 0 0 0 0 0 4 0 77 0 10\n");
    write("proc/" + std::to_string(pid) + "/io",
          "rchar: 30\nwchar: 1\nread_bytes: 10\nwrite_bytes: 20\n");
    write("proc/" + std::to_string(pid) + "/status",
          "voluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n");
  }
  void machine(int busy_ticks) const {
    write("proc/stat", "cpu  " + std::to_string(busy_ticks) + " 0 0 500 30 0 0 4\ncpu0 " +
                           std::to_string(busy_ticks) + " 0 0 500 30 0 0 4\n");
  }
  /// One more moment, a second later.
  void sample() {
    if (!lane_) {
      tree_.update();
      lane_.emplace(Lane::host, surroundings_, recorded_);
    }
    const std::int64_t time = 1'000'000'000 * static_cast<std::int64_t>(number_);
    lane_->sample({.time = time, .number = 10 * number_ + 3, .brisk = true, .slow = true});
    lane_->finish();
    ++number_;
  }
  [[nodiscard]] const Recorded& recorded() const { return recorded_; }
  [[nodiscard]] const std::vector<Missing>& missing() const { return lane_->missing(); }

 private:
  static std::filesystem::path folder() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::path(testing::TempDir()) / (std::string("host_") + test->name());
  }
  const std::filesystem::path root_ = folder();
  const Roots roots_{.proc = (root_ / "proc").string(), .sys = (root_ / "sys").string()};
  std::uint64_t number_ = 0;
  Recorded recorded_;
  ProcessTree tree_{roots_, {.root = 7, .launcher = 0, .session = {}}};
  Surroundings surroundings_{.roots = roots_, .tree = tree_, .nvml_path = {}};
  std::optional<LaneRun> lane_;
};

double ticks(double count) { return count / static_cast<double>(::sysconf(_SC_CLK_TCK)); }

TEST_F(Host, ProcessesAreReadFromStatIoAndStatus) {
  machine(0);
  process(7, 250);
  sample();
  EXPECT_EQ(recorded().last("process.cpu_user@7"), ticks(250));
  EXPECT_EQ(recorded().last("process.threads@7"), 4);
  EXPECT_EQ(recorded().last("process.minor_faults@7"), 5);
  EXPECT_EQ(recorded().last("process.major_faults@7"), 6);
  EXPECT_EQ(recorded().last("process.memory@7"),
            10.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(recorded().last("process.written@7"), 20);
  EXPECT_EQ(recorded().last("process.voluntary_switches@7"), 8);
}

TEST_F(Host, WhatOthersUseIsWhatTheTreeDoesNot) {
  machine(1000);
  process(7, 50);
  sample();
  machine(1900);
  process(7, 250);
  sample();
  const double own = 0.5;  // of this test itself, which is left out
  EXPECT_NEAR(recorded().last("others.cpu"), ticks(900 - 200), own);
  EXPECT_EQ(recorded().last("cpu.busy"), ticks(1900));
  EXPECT_EQ(recorded().last("cpu.0.busy"), ticks(1900));
  EXPECT_EQ(recorded().last("cpu.count"), 1);
}

TEST_F(Host, AProcessorsEnergyGoesOnWhereItsCounterStartsAgain) {
  machine(0);
  write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
  write("sys/class/powercap/intel-rapl:0/energy_uj", "9000000\n");
  write("sys/class/powercap/intel-rapl:0:0/name", "dram\n");
  write("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "10000000\n");
  write("sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
  write("sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
  write("sys/class/powercap/intel-rapl-mmio:0/energy_uj", "9000000\n");
  sample();
  write("sys/class/powercap/intel-rapl:0/energy_uj", "2000000\n");
  sample();
  const auto& joules = recorded().values.at("energy.package-0");
  EXPECT_NEAR(joules.back() - joules.front(), 3, 1e-9);
  EXPECT_TRUE(recorded().has("energy.package-0.dram"));
}

TEST_F(Host, WhatIsNotThereIsNamedWithItsRemedy) {
  machine(0);
  sample();
  bool psi = false;
  for (const Missing& line : missing()) {
    EXPECT_NE(line.why, "") << line.what;
    EXPECT_NE(line.remedy, "") << line.what;
    psi = psi || line.remedy.find("psi=1") != std::string::npos;
  }
  EXPECT_TRUE(psi);
  EXPECT_TRUE(recorded().has("cpu.busy"));
}

TEST_F(Host, PressureMemoryDisksAndNetworksAreRead) {
  machine(0);
  for (const std::string what : {"cpu", "memory", "io"}) {
    write("proc/pressure/" + what,
          "some avg10=0 avg60=0 avg300=0 total=2000000\nfull avg10=0 avg60=0 avg300=0 "
          "total=1000000\n");
  }
  write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\nSwapTotal: 9 kB\nSwapFree: 4 kB\n");
  write("proc/vmstat", "pswpin 1\npswpout 0\npgmajfault 12\n");
  write("proc/net/dev", "h\nh\n eth0: 11 0 0 0 0 0 0 0 22 0 0 0 0 0 0 0\n");
  write("proc/diskstats", "8 0 sda 1 0 4 0 1 0 6 0 0 1500 0\n");
  sample();
  EXPECT_EQ(recorded().last("pressure.memory.some"), 2);
  EXPECT_EQ(recorded().last("pressure.io.full"), 1);
  EXPECT_EQ(recorded().last("memory.available"), 40 * 1024);
  EXPECT_EQ(recorded().last("memory.swap_used"), 5 * 1024);
  EXPECT_EQ(recorded().last("memory.major_faults"), 12);
  EXPECT_EQ(recorded().last("network.eth0.sent"), 22);
  EXPECT_EQ(recorded().last("disk.sda.read"), 4 * 512);
  EXPECT_EQ(recorded().last("disk.sda.busy"), 1.5);
}

}  // namespace
}  // namespace fathom::monitor
