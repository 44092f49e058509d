#include "analysis/machine/telemetry.h"

#include <gtest/gtest.h>

#include "analysis/machine/energy.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Interval seconds(double begin, double end) {
  return {time_ns(static_cast<std::int64_t>(begin * 1e9)),
          time_ns(static_cast<std::int64_t>(end * 1e9))};
}

/// Samples of machine counters, in seconds.
class Samples : public TraceBuilder {
 public:
  Samples() { on_thread(0, 0); }
  Samples& add(std::string_view series, std::int64_t second, double value) {
    sample(series, second * kSecond, value);
    return *this;
  }
};

TEST(Telemetry, FindsACounterByNameAndDevice) {
  const Trace trace =
      Samples().add("gpu.power device 1", 0, 5).add("gpu.power device 0", 0, 7).build();
  const Telemetry telemetry(trace);
  ASSERT_NE(telemetry.find("gpu.power", 1), nullptr);
  EXPECT_EQ(telemetry.find("gpu.power", 1)->values[0], 5);
  EXPECT_EQ(telemetry.find("gpu.power", 0)->values[0], 7);
  EXPECT_EQ(telemetry.find("gpu.power", 2), nullptr);
  EXPECT_EQ(telemetry.find("gpu.energy", 0), nullptr);
}

TEST(Telemetry, WeighsALevelByTimeAlongStraightLines) {
  const Trace trace = Samples().add("a", 0, 0).add("a", 2, 10).add("a", 10, 10).build();
  const Telemetry telemetry(trace);
  const Interval window = seconds(1, 4);
  const auto summary = level(*telemetry.find("a"), std::span(&window, 1));
  ASSERT_TRUE(summary.has_value());
  EXPECT_NEAR(summary->mean, (7.5 + 2 * 10) / 3, 1e-9);
  EXPECT_NEAR(summary->least, 5, 1e-9);
  EXPECT_NEAR(summary->most, 10, 1e-9);
  EXPECT_EQ(summary->known, duration_ns(3 * kSecond));
}

TEST(Telemetry, KnowsNothingBeforeTheFirstSampleAndAfterTheLast) {
  const Trace trace = Samples().add("a", 5, 1).add("a", 6, 1).build();
  const Telemetry telemetry(trace);
  const Interval before = seconds(0, 4);
  const Interval across = seconds(4, 5.5);
  EXPECT_FALSE(level(*telemetry.find("a"), std::span(&before, 1)).has_value());
  EXPECT_FALSE(rise(*telemetry.find("a"), std::span(&before, 1)).has_value());
  EXPECT_EQ(level(*telemetry.find("a"), std::span(&across, 1))->known, duration_ns(kSecond / 2));
}

TEST(Telemetry, TakesTheRiseOfATotalOverSeveralStretches) {
  const Trace trace = Samples().add("t", 0, 100).add("t", 10, 200).build();
  const Telemetry telemetry(trace);
  const Interval windows[] = {seconds(1, 2), seconds(5, 8)};
  EXPECT_NEAR(*rise(*telemetry.find("t"), windows), 40, 1e-9);
}

TEST(Telemetry, TakesSamplesInTheOrderOfTime) {
  const Trace trace = Samples().add("a", 2, 2).add("a", 0, 0).add("a", 1, 1).build();
  const Telemetry telemetry(trace);
  EXPECT_NEAR(*telemetry.find("a")->at(time_ns(kSecond / 2)), 0.5, 1e-9);
}

TEST(Telemetry, FollowsVisibleDevices) {
  Samples samples;
  samples.add("gpu.power device 0", 0, 1).add("gpu.power device 3", 0, 1);
  samples.fact("environment.CUDA_VISIBLE_DEVICES", "\"3,0\"");
  const Trace trace = samples.build();
  EXPECT_EQ(Telemetry(trace).gpu_of(0), 3);
  EXPECT_EQ(Telemetry(trace).gpu_of(1), 0);
  EXPECT_FALSE(Telemetry(trace).gpu_of(2).has_value());
}

TEST(Telemetry, FollowsVisibleDevicesByTheirUuid) {
  Samples samples;
  samples.add("gpu.power device 0", 0, 1).add("gpu.power device 1", 0, 1);
  samples.fact("environment.CUDA_VISIBLE_DEVICES", "\"GPU-b\"");
  samples.fact("gpu.1", R"({"index": 1, "uuid": "GPU-b-2"})");
  const Trace trace = samples.build();
  EXPECT_EQ(Telemetry(trace).gpu_of(0), 1);
}

TEST(Energy, IntegratesPowerByTrapezoids) {
  const Trace trace =
      Samples().add("gpu.power device 0", 0, 100).add("gpu.power device 0", 10, 300).build();
  const Telemetry telemetry(trace);
  const auto consumers = energy_consumers(telemetry);
  ASSERT_EQ(consumers.size(), 1U);
  EXPECT_FALSE(consumers[0].counted);
  const Interval all = seconds(0, 10);
  const Interval first = seconds(0, 5);
  EXPECT_NEAR(energy_of(consumers[0], std::span(&all, 1))->joules, 2000, 1e-6);
  EXPECT_NEAR(energy_of(consumers[0], std::span(&first, 1))->joules, 750, 1e-6);
  EXPECT_NEAR(energy_of(consumers[0], std::span(&first, 1))->watts(), 150, 1e-6);
}

TEST(Energy, PrefersTheCounterOfEnergyToPower) {
  const Trace trace = Samples()
                          .add("gpu.power device 0", 0, 100)
                          .add("gpu.power device 0", 10, 100)
                          .add("gpu.energy device 0", 0, 5000)
                          .add("gpu.energy device 0", 10, 5900)
                          .build();
  const Telemetry telemetry(trace);
  const auto consumers = energy_consumers(telemetry);
  ASSERT_EQ(consumers.size(), 1U);
  EXPECT_TRUE(consumers[0].counted);
  const Interval all = seconds(0, 10);
  EXPECT_NEAR(energy_of(consumers[0], std::span(&all, 1))->joules, 900, 1e-6);
}

TEST(Energy, CountsNoPartOfAProcessorTwice) {
  const Trace trace = Samples()
                          .add("energy.package-0", 0, 0)
                          .add("energy.package-0.core", 0, 0)
                          .add("energy.package-0.dram", 0, 0)
                          .add("energy.psys", 0, 0)
                          .build();
  std::vector<std::string> names;
  const Telemetry telemetry(trace);
  for (const EnergyConsumer& consumer : energy_consumers(telemetry)) names.push_back(consumer.name);
  EXPECT_EQ(names, (std::vector<std::string>{"CPU package-0", "memory package-0"}));
}

TEST(Energy, BecomesMoneyByTheKilowattHour) { EXPECT_NEAR(price_of(7.2e6, 0.3), 0.6, 1e-12); }

}  // namespace
}  // namespace fathom
