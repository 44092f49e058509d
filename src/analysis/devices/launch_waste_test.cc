// What launches waste, on a device with 80 multiprocessors (V100).
#include "analysis/devices/launch_waste.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Device v100() {
  Device device;
  device.name = "Tesla V100-SXM2-32GB";
  device.compute_major = 7;
  device.compute_minor = 0;
  device.sms = 80;
  return device;
}

LaunchConfig launch(std::int32_t blocks, std::int32_t threads) {
  LaunchConfig config;
  config.grid = {blocks, 1, 1};
  config.block = {threads, 1, 1};
  config.registers = 32;
  config.shared_memory = 0;
  return config;
}

TEST(LaunchWaste, GridSmallerThanTheDeviceLeavesMultiprocessorsIdle) {
  const Device device = v100();
  EXPECT_DOUBLE_EQ(*launch_waste(launch(20, 128), &device).small_grid, 0.75);
  EXPECT_DOUBLE_EQ(*launch_waste(launch(80, 128), &device).small_grid, 0.0);
}

TEST(LaunchWaste, PartlyFullLastWaveIsATail) {
  const Device device = v100();
  // 1024 threads of 32 registers: two blocks fit, so that 160 blocks are a wave.
  EXPECT_DOUBLE_EQ(*launch_waste(launch(160, 1024), &device).tail, 0.0);
  EXPECT_DOUBLE_EQ(*launch_waste(launch(161, 1024), &device).tail, 159.0 / 320.0);
  EXPECT_DOUBLE_EQ(*launch_waste(launch(500, 1024), &device).tail, 140.0 / 640.0);
}

TEST(LaunchWaste, OnlyWaveIsNoTail) {
  const Device device = v100();
  EXPECT_DOUBLE_EQ(*launch_waste(launch(100, 1024), &device).tail, 0.0);
}

TEST(LaunchWaste, BlockSizeThatIsNoMultipleOfTheWarpWastesLanes) {
  const Device device = v100();
  EXPECT_DOUBLE_EQ(*launch_waste(launch(160, 48), &device).ragged_block, 0.25);
  EXPECT_DOUBLE_EQ(*launch_waste(launch(160, 64), &device).ragged_block, 0.0);
}

TEST(LaunchWaste, WarpsOfOtherVendorsAreAsWideAsRecorded) {
  Device device;
  device.name = "AMD Instinct MI300X";
  device.sms = 304;
  device.warp_size = 64;
  const LaunchWaste waste = launch_waste(launch(304, 96), &device);
  EXPECT_DOUBLE_EQ(*waste.ragged_block, 0.25);
  EXPECT_DOUBLE_EQ(*waste.small_grid, 0.0);
  EXPECT_FALSE(waste.tail) << "the limits of its multiprocessors are not in the table";
}

TEST(LaunchWaste, NothingIsToldOfWhatWasNotRecorded) {
  const Device device = v100();
  const LaunchWaste unknown = launch_waste({}, &device);
  EXPECT_FALSE(unknown.small_grid || unknown.tail || unknown.ragged_block);
  const LaunchWaste nowhere = launch_waste(launch(1, 1), nullptr);
  EXPECT_FALSE(nowhere.small_grid || nowhere.tail || nowhere.ragged_block);
}

}  // namespace
}  // namespace fathom
