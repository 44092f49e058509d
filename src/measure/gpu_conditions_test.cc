// What NVML says of GPUs before anything is measured.
#include "measure/gpu_conditions.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

TEST(GpuConditions, NameEachGpuItsLimitAndWhoComputesOnIt) {
  const Conditions conditions = conditions_with_gpus(FATHOM_FAKE_NVML);
  EXPECT_EQ(conditions.driver, "550.54.15");
  ASSERT_EQ(conditions.gpus.size(), 2U);
  EXPECT_FALSE(conditions.gpus[0].name.empty());
  EXPECT_GT(conditions.gpus[0].power_limit_w.value_or(0), 0);
  EXPECT_EQ(conditions.gpus[0].programs, 1) << "the fake lists us, too";
  EXPECT_EQ(conditions.gpus[0].memory_of_programs, std::int64_t{2} << 30U);
  EXPECT_EQ(conditions.gpus[1].programs, 0);
}

TEST(GpuConditions, AreEmptyWithoutNvml) {
  const Conditions conditions = conditions_with_gpus("/no/such/library");
  EXPECT_TRUE(conditions.gpus.empty());
  EXPECT_EQ(conditions.driver, "");
  EXPECT_GT(conditions.host.cores, 0);
}

}  // namespace
}  // namespace fathom::measure
