// The clock is that of the GPU that is asked for.
#include "measure/gpu_clock.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

TEST(GpuClock, IsReadFromTheGpuOfTheUuid) {
  setenv("FATHOM_NVML_SCRIPT", "zero-uuid", 1);
  const auto read = clock_of_gpu("GPU-00000000-0000-0000-0000-000000000000", FATHOM_FAKE_NVML);
  ASSERT_TRUE(read);
  EXPECT_EQ(read().sm_mhz, 1200);
  EXPECT_EQ(read().reasons, shares_of(0x24U));
  EXPECT_FALSE(clock_of_gpu("GPU-another", FATHOM_FAKE_NVML));
  unsetenv("FATHOM_NVML_SCRIPT");
}

TEST(GpuClock, IsNotThereWithoutNvml) {
  EXPECT_FALSE(clock_of_gpu("GPU-00000000-0000-0000-0000-000000000000", "/no/such/library"));
  EXPECT_FALSE(clock_of_gpu("", FATHOM_FAKE_NVML));
}

}  // namespace
}  // namespace fathom::measure
