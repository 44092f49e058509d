// GPU telemetry against a library that stands in for NVML.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "monitor/abilities.h"
#include "monitor/gpus.h"
#include "monitor/lane_run.h"
#include "tests/telemetry/recorded.h"

namespace fathom::monitor {
namespace {

constexpr const char* kNew = FATHOM_FAKE_NVML;
constexpr const char* kOld = FATHOM_FAKE_NVML_OLD;

/// Samples both lanes of the GPU `ticks` times; the tree is this process.
struct Watched {
  explicit Watched(const std::string& script, const std::string& library = kNew,
                   std::uint64_t ticks = 3) {
    ::setenv("FATHOM_NVML_SCRIPT", script.c_str(), 1);
    tree.update();
    LaneRun fast(Lane::gpu, around(library), sink);
    LaneRun slow(Lane::gpu_slow, around(library), sink);
    missing = fast.missing();
    missing.insert(missing.end(), slow.missing().begin(), slow.missing().end());
    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
      const Tick now{.time = static_cast<std::int64_t>(tick) * 100'000'000,
                     .number = tick,
                     .brisk = true,
                     .slow = true};
      fast.sample(now);
      slow.sample(now);
    }
    fast.finish();
    slow.finish();
  }

  Surroundings& around(const std::string& library) {
    surroundings.nvml_path = library;
    return surroundings;
  }
  /// The line about it, or a line without words.
  [[nodiscard]] Missing lacks(const std::string& what) const {
    const auto at = std::ranges::find_if(
        missing, [&](const Missing& line) { return line.what.find(what) != std::string::npos; });
    return at == missing.end() ? Missing{} : *at;
  }

  ProcessTree tree{Roots{},
                   {.root = static_cast<std::int32_t>(::getpid()), .launcher = 0, .session = {}}};
  Surroundings surroundings{.roots = {}, .tree = tree, .nvml_path = {}};
  Recorded sink;
  std::vector<Missing> missing;
};

TEST(GpuTelemetry, ReadsEveryGpuInUnitsOfTheTable) {
  const Watched gpus("");
  EXPECT_TRUE(gpus.missing.empty()) << gpus.missing.front().what;
  EXPECT_EQ(gpus.sink.last("gpu.utilization/0"), 90);
  EXPECT_EQ(gpus.sink.last("gpu.utilization/1"), 5);
  EXPECT_EQ(gpus.sink.last("gpu.power/0"), 300);
  EXPECT_EQ(gpus.sink.last("gpu.energy/1"), 2000);
  EXPECT_EQ(gpus.sink.last("gpu.memory_used/0"), 9.0 * (1U << 30U));
  EXPECT_EQ(gpus.sink.last("gpu.memory_total/0"), 80.0 * (1U << 30U));
  EXPECT_EQ(gpus.sink.last("gpu.sm_clock/0"), 1200);
  EXPECT_EQ(gpus.sink.last("gpu.sm_clock_max/0"), 1410);
  EXPECT_EQ(gpus.sink.last("gpu.temperature/0"), 84);
  EXPECT_EQ(gpus.sink.last("gpu.pcie_generation/0"), 4);
  EXPECT_EQ(gpus.sink.last("gpu.pcie_width/0"), 16);
  EXPECT_EQ(gpus.sink.last("gpu.ecc_corrected/0"), 3);
  EXPECT_EQ(gpus.sink.last("gpu.power_limit/0"), 400);
  EXPECT_EQ(gpus.sink.units.at("gpu.power"), "watts");
}

TEST(GpuTelemetry, TellsWhyClocksAreLowAsBitsAndByName) {
  const Watched gpus("");
  EXPECT_EQ(gpus.sink.last("gpu.clock_reasons/0"), 0x24);
  EXPECT_EQ(gpus.sink.last("gpu.throttle.power_cap/0"), 1);
  EXPECT_EQ(gpus.sink.last("gpu.throttle.sw_thermal/0"), 1);
  EXPECT_EQ(gpus.sink.last("gpu.throttle.hw_thermal/0"), 0);
}

TEST(GpuTelemetry, CountsPcieBytesOrElseTakesTheirRate) {
  const Watched counted("");
  EXPECT_EQ(counted.sink.last("gpu.pcie_sent/0"), 1197);
  EXPECT_EQ(counted.sink.last("gpu.pcie_received/1"), 2198);
  EXPECT_FALSE(counted.sink.has("gpu.pcie_send_rate/0"));
  const Watched rates("no-pcie-count");
  EXPECT_FALSE(rates.sink.has("gpu.pcie_sent/0"));
  EXPECT_EQ(rates.sink.last("gpu.pcie_receive_rate/0"), 2'000'000);
  EXPECT_TRUE(rates.missing.empty());
}

TEST(GpuTelemetry, TellsNeighboursFromTheProgram) {
  const Watched gpus("");
  EXPECT_EQ(gpus.sink.last("gpu.processes/0"), 2);
  EXPECT_EQ(gpus.sink.last("gpu.other_processes/0"), 1);
  EXPECT_EQ(gpus.sink.last("gpu.memory_by_others/0"), 2.0 * (1U << 30U));
  EXPECT_EQ(gpus.sink.last("gpu.other_processes/1"), 0);
}

TEST(GpuTelemetry, ListsProcessesAlsoWhereTheDriversRowsAreLonger) {
  // The first and the last of those drivers, and their neighbours.
  for (const char* const driver : {"535.42", "535.43", "535.54", "535.86", "535.98", "570.86"}) {
    const Watched gpus(std::string("processes=30 driver=") + driver);
    EXPECT_EQ(gpus.sink.last("gpu.processes/0"), 30) << driver;
    EXPECT_EQ(gpus.sink.last("gpu.other_processes/0"), 29) << driver;
    EXPECT_EQ(gpus.sink.last("gpu.memory_by_others/0"), 58.0 * (1U << 30U)) << driver;
  }
}

TEST(GpuTelemetry, MissesOnlyWhatTheGpuLacks) {
  const Watched gpus("no-energy");
  EXPECT_FALSE(gpus.sink.has("gpu.energy/0"));
  EXPECT_TRUE(gpus.sink.has("gpu.power/0"));
  EXPECT_EQ(gpus.lacks("GPU 0: gpu.energy").why, "not supported by this GPU or its driver");
}

TEST(GpuTelemetry, NamesTheRemedyForWhatIsNotPermitted) {
  const Watched gpus("no-permission");
  EXPECT_FALSE(gpus.sink.has("gpu.processes/0"));
  EXPECT_NE(gpus.lacks("gpu.processes").remedy.find("/dev/nvidiactl"), std::string::npos);
}

TEST(GpuTelemetry, GoesOnWithTheOthersWhenOneGpuIsLost) {
  const Watched gpus("lost=4", kNew, 8);
  ASSERT_FALSE(gpus.sink.losses.empty());
  EXPECT_EQ(gpus.sink.losses[0], "GPU 1: the GPU has fallen off the bus");
  EXPECT_EQ(gpus.sink.times.at("gpu.power/0").back(), 700'000'000);
  EXPECT_LT(gpus.sink.times.at("gpu.power/1").back(), 700'000'000);
}

TEST(GpuTelemetry, FallsBackToTheFunctionsOfAnOldDriver) {
  const Watched gpus("", kOld);
  EXPECT_EQ(gpus.sink.last("gpu.memory_used/0"), 10.0 * (1U << 30U));
  EXPECT_EQ(gpus.sink.last("gpu.clock_reasons/0"), 4);
  EXPECT_EQ(gpus.sink.last("gpu.processes/0"), 2);
  EXPECT_EQ(gpus.sink.last("gpu.pcie_send_rate/0"), 1'000'000);
}

TEST(GpuTelemetry, SaysThatMigHidesTheUse) {
  const Watched gpus("mig");
  EXPECT_FALSE(gpus.sink.has("gpu.utilization/0"));
  EXPECT_EQ(gpus.sink.last("gpu.utilization/1"), 5);
  EXPECT_NE(gpus.lacks("GPU 0: gpu.utilization").remedy.find("MIG"), std::string::npos);
}

TEST(GpuTelemetry, IsMissingAsAWholeWithoutADriver) {
  const Watched gpus("no-driver");
  EXPECT_TRUE(gpus.sink.values.empty());
  EXPECT_EQ(gpus.lacks("GPU telemetry").why, "the NVIDIA driver is not loaded");
  const Watched nothing("", "/nowhere/libnvidia-ml.so.1");
  EXPECT_NE(nothing.lacks("GPU telemetry").remedy.find("--gpus all"), std::string::npos);
  const Watched none("gpus=0");
  EXPECT_EQ(none.lacks("GPU telemetry").why, "the driver sees no GPU");
}

TEST(GpuDescription, TellsTheConditionsOfEachGpu) {
  ::setenv("FATHOM_NVML_SCRIPT", "mig", 1);
  const GpuSystem system = describe_gpus(kNew);
  EXPECT_EQ(system.driver, "550.54.15");
  EXPECT_EQ(system.cuda, "12.4");
  ASSERT_EQ(system.gpus.size(), 2U);
  EXPECT_EQ(system.gpus[0].name, "NVIDIA Fake");
  EXPECT_EQ(system.gpus[0].power_limit_w, 400);
  EXPECT_EQ(system.gpus[0].ecc, true);
  EXPECT_EQ(system.gpus[0].mig, true);
  ASSERT_EQ(system.gpus[0].instances.size(), 1U);
  EXPECT_EQ(system.gpus[0].instances[0].name, "NVIDIA Fake MIG 1g.10gb");
  EXPECT_EQ(system.gpus[1].mig, false);
  EXPECT_NE(to_json(system.gpus[1]).find("\"uuid\": \"GPU-fake-2\""), std::string::npos);
  EXPECT_EQ(to_json(system.gpus[1]).find("pcie_width_max"), std::string::npos);
}

TEST(Abilities, NameWhatIsMissingAndWhatWouldHelp) {
  ::setenv("FATHOM_NVML_SCRIPT", "no-energy", 1);
  const auto abilities = telemetry_abilities({}, kNew);
  const auto named = [&](std::string_view what) {
    return *std::ranges::find_if(
        abilities, [&](const Ability& line) { return line.what.find(what) != std::string::npos; });
  };
  EXPECT_TRUE(named("GPUs: use").available);
  EXPECT_FALSE(named("gpu.energy").available);
  EXPECT_NE(named("gpu.energy").why, "");
}

}  // namespace
}  // namespace fathom::monitor
