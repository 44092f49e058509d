#include "engine/whatif/what_if_targets.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A product inside an annotation of the user's, and a sum beside it.
class WhatIfTargets : public testing::Test {
 protected:
  WhatIfTargets() {
    TraceBuilder builder;
    block_ = builder.annotation("block", 0, 100);
    mm_ = builder.op("aten::mm", 10, 60).sequence(1);
    launch_ = builder.runtime("cudaLaunchKernel", 20, 10, 1);
    gemm_ = builder.kernel("volta_sgemm", 50, 200, 1);
    add_ = builder.op("aten::add", 120, 30);
    builder.runtime("cudaLaunchKernel", 130, 10, 2);
    builder.kernel("vectorized_elementwise_kernel", 260, 20, 2);
    trace_ = builder.build();
    analyses_ = std::make_unique<Analyses>(trace_);
  }
  [[nodiscard]] Result<Targets> find(std::string_view target) const {
    return find_targets({trace_, *analyses_, {}, {}}, target);
  }

  SliceId block_, mm_, launch_, gemm_, add_;
  Trace trace_;
  std::unique_ptr<Analyses> analyses_;
};

TEST_F(WhatIfTargets, OperatorByItsNameHasAllInsideAndAllThatItLaunched) {
  const Result<Targets> targets = find("aten::mm");
  ASSERT_TRUE(targets);
  EXPECT_EQ(targets->host, (std::vector{mm_, launch_}));
  EXPECT_EQ(targets->activities, std::vector{gemm_});
}

TEST_F(WhatIfTargets, AnnotationsCountByTheirExactNameOnly) {
  ASSERT_TRUE(find("block"));
  EXPECT_EQ(find("block")->host, (std::vector{block_, mm_, launch_}));
  EXPECT_FALSE(find("op:block"));
}

TEST_F(WhatIfTargets, ExpressionsAreForOperatorsHostTimeOrKernels) {
  EXPECT_EQ(find("op:aten::.*")->activities.size(), 2U);
  EXPECT_EQ(find("host:^aten::mm$")->host.size(), 2U);
  EXPECT_TRUE(find("host:^aten::mm$")->activities.empty());
  EXPECT_EQ(find("kernel:sgemm")->activities, std::vector{gemm_});
  EXPECT_TRUE(find("kernel:sgemm")->host.empty());
}

TEST_F(WhatIfTargets, RuntimeCallsCountByTheirNameAndAsHostTime) {
  EXPECT_EQ(find("cudaLaunchKernel")->host.size(), 2U);
  EXPECT_EQ(find("cudaLaunchKernel")->activities.size(), 2U);
  EXPECT_EQ(find("host:^cudaLaunch")->host.size(), 2U);
  EXPECT_FALSE(find("op:cudaLaunch"));
}

TEST_F(WhatIfTargets, PhasesAreNamed) {
  const Result<Targets> targets = find("phase:forward");
  ASSERT_TRUE(targets);
  EXPECT_EQ(targets->activities, std::vector{gemm_});
  EXPECT_NE(find("phase:forwards").error().message.find("phases are forward, backward"),
            std::string::npos);
}

TEST_F(WhatIfTargets, NameThatIsNotThereSuggestsTheNearest) {
  EXPECT_NE(find("aten::nm").error().message.find("did you mean 'aten::mm'?"), std::string::npos);
  EXPECT_NE(find("kernel:nothing_like_it").error().message.find("no device activity of the trace"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
