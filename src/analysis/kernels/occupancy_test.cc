#include "analysis/kernels/occupancy.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

Device a100() {
  return {.id = 0,
          .name = "NVIDIA A100-SXM4-40GB",
          .compute_major = 8,
          .compute_minor = 0,
          .sms = 108,
          .max_threads_per_sm = 2048,
          .registers_per_sm = 65536,
          .shared_memory_per_sm = 167936};
}

LaunchConfig launch(std::int32_t threads, std::int32_t registers, std::int64_t shared_memory) {
  LaunchConfig config;
  config.grid = {1000, 1, 1};
  config.block = {threads, 1, 1};
  config.registers = registers;
  config.shared_memory = shared_memory;
  return config;
}

Occupancy on(const Device& device, const LaunchConfig& config) {
  return theoretical_occupancy(multiprocessor_limits(device).value(), config).value_or(Occupancy());
}

// Expected values from NVIDIA's occupancy calculator.
TEST(Occupancy, IsFullWhereNothingIsScarce) {
  const Occupancy occupancy = on(a100(), launch(256, 32, 0));
  EXPECT_EQ(occupancy.blocks_per_sm, 8);
  EXPECT_DOUBLE_EQ(occupancy.percent, 100);
  EXPECT_EQ(occupancy.limiter, OccupancyLimiter::warps);
}

TEST(Occupancy, IsLimitedByRegisters) {
  const Occupancy occupancy = on(a100(), launch(256, 47, 0));
  EXPECT_EQ(occupancy.blocks_per_sm, 5);
  EXPECT_DOUBLE_EQ(occupancy.percent, 62.5);
  EXPECT_EQ(occupancy.limiter, OccupancyLimiter::registers);
}

TEST(Occupancy, IsLimitedBySharedMemoryWithWhatTheSystemTakes) {
  // 48 KiB + 1 KiB per block: 3 blocks of 164 KiB.
  const Occupancy occupancy = on(a100(), launch(256, 32, 49152));
  EXPECT_EQ(occupancy.blocks_per_sm, 3);
  EXPECT_DOUBLE_EQ(occupancy.percent, 37.5);
  EXPECT_EQ(occupancy.limiter, OccupancyLimiter::shared_memory);
}

TEST(Occupancy, IsLimitedByBlocks) {
  const Occupancy occupancy = on(a100(), launch(32, 16, 0));
  EXPECT_EQ(occupancy.blocks_per_sm, 32);
  EXPECT_DOUBLE_EQ(occupancy.percent, 50);
  EXPECT_EQ(occupancy.limiter, OccupancyLimiter::blocks);
}

TEST(Occupancy, HoldsOneBlockOfAWholeHopperMultiprocessor) {
  Device h100 = a100();
  h100.compute_major = 9;
  h100.shared_memory_per_sm = 233472;
  const Occupancy occupancy = on(h100, launch(384, 168, 231424));
  EXPECT_EQ(occupancy.blocks_per_sm, 1);
  EXPECT_DOUBLE_EQ(occupancy.percent, 18.75);
}

TEST(Occupancy, AbstainsWhereSomethingIsNotRecordedOrNotKnown) {
  EXPECT_FALSE(theoretical_occupancy(*multiprocessor_limits(a100()), launch(0, 32, 0)));
  EXPECT_FALSE(theoretical_occupancy(*multiprocessor_limits(a100()), launch(256, -1, 0)));
  EXPECT_FALSE(theoretical_occupancy(*multiprocessor_limits(a100()), launch(256, 32, kAbsent)));
  EXPECT_FALSE(theoretical_occupancy(*multiprocessor_limits(a100()), launch(256, 32, INT64_MAX)));
  EXPECT_FALSE(theoretical_occupancy(*multiprocessor_limits(a100()), launch(256, INT32_MAX, 0)));
  Device amd = a100();
  amd.name = "AMD Instinct MI300X";
  EXPECT_FALSE(multiprocessor_limits(amd));
  amd.name.clear();
  amd.warp_size = 64;
  EXPECT_FALSE(multiprocessor_limits(amd));
  Device unknown = a100();
  unknown.compute_major = 99;
  EXPECT_FALSE(multiprocessor_limits(unknown));
}

TEST(Occupancy, CountsWavesAndBlocksPerMultiprocessor) {
  const Device device = a100();
  LaunchConfig config = launch(256, 32, 0);
  config.grid = {108 * 8 * 2, 1, 1};
  const MultiprocessorLimits limits = *multiprocessor_limits(device);
  EXPECT_DOUBLE_EQ(*waves(limits, config, *theoretical_occupancy(limits, config)), 2);
  EXPECT_DOUBLE_EQ(*grid_blocks_per_sm(config, &device), 16);
  EXPECT_FALSE(grid_blocks_per_sm(config, nullptr));
  config.warps_per_sm = 80;
  EXPECT_DOUBLE_EQ(*grid_blocks_per_sm(config, nullptr), 10);
  config.blocks_per_sm = 3.5;
  EXPECT_DOUBLE_EQ(*grid_blocks_per_sm(config, nullptr), 3.5);
}

TEST(Occupancy, AchievedIsBoundedByTheGrid) {
  const Device device = a100();
  LaunchConfig config = launch(256, 47, 0);
  EXPECT_DOUBLE_EQ(*achieved_occupancy(config, &device), 62.5);
  config.grid = {54, 1, 1};
  EXPECT_DOUBLE_EQ(*achieved_occupancy(config, &device), 6.25);
  config.occupancy_percent = 6;
  EXPECT_DOUBLE_EQ(*achieved_occupancy(config, &device), 6);
}

TEST(DeviceProperties, StandInForAnUnlistedNumberWhenAllDevicesAreAlike) {
  TraceBuilder builder;
  builder.device(a100());
  const Trace trace = builder.build();
  EXPECT_NE(device_properties(trace, 9), nullptr);
  TraceBuilder mixed;
  Device other = a100();
  other.id = 1;
  other.sms = 54;
  mixed.device(a100()).device(other);
  const Trace two = mixed.build();
  EXPECT_EQ(device_properties(two, 1)->sms, 54);
  EXPECT_EQ(device_properties(two, 9), nullptr);
}

}  // namespace
}  // namespace fathom
