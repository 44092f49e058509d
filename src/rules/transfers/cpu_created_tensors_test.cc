#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule cpu_created_tensors();

namespace {

/// A step of 1000 ns: `made` on the CPU in 100 ns, then 100 ns of aten::to, 20 of them a copy.
TraceBuilder::Event made_and_moved(TraceBuilder& builder, std::string_view made,
                                   std::string_view between = {}) {
  builder.step(0, 0, 1000);
  const TraceBuilder::Event maker = builder.op(made, 100, 100);
  if (!between.empty()) builder.op(between, 200, 20);
  builder.op("aten::to", 220, 100);
  builder.op("aten::copy_", 230, 80);
  builder.runtime("cudaMemcpyAsync", 240, 20, 1);
  builder.copy(CopyKind::h2d, 265, 20, 1, 4096);
  builder.op("aten::mm", 330, 10);
  builder.runtime("cudaLaunchKernel", 333, 4, 2);
  builder.kernel("gemm", 340, 660, 2);
  return maker;
}

TEST(CpuCreatedTensors, AreToldWhereATensorIsMadeAndMoved) {
  TraceBuilder builder;
  made_and_moved(builder, "aten::zeros");
  const auto findings = JudgedTrace(builder).findings(cpu_created_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(to_ns(total(findings[0].claims)), 100);
  EXPECT_LE(to_ns(total(findings[0].claims)), 220);
}

TEST(CpuCreatedTensors, AreToldThroughViews) {
  TraceBuilder builder;
  made_and_moved(builder, "aten::arange", "aten::unsqueeze");
  EXPECT_EQ(JudgedTrace(builder).findings(cpu_created_tensors()).size(), 1U);
}

TEST(CpuCreatedTensors, AreNothingWhereSomethingWasComputedBetween) {
  TraceBuilder builder;
  made_and_moved(builder, "aten::zeros", "aten::stack");
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(cpu_created_tensors()).empty());
  EXPECT_EQ(judged.abstains(cpu_created_tensors()), "");
}

/// Two tensors of 400 ms each; the first use of the device lies between making and moving the
/// first.
TEST(CpuCreatedTensors, AreToldWhereTheDeviceIsFirstUsedBetween) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  const auto evidence = [](std::int64_t first_gap) {
    TraceBuilder builder;
    std::int64_t at = 0;
    for (int i = 0; i < 2; ++i) {
      builder.op("aten::randn", at, 400 * kMillisecond);
      at += 400 * kMillisecond + (i == 0 ? first_gap : 100'000);
      builder.op("aten::to", at, 50 * kMillisecond);
      builder.runtime("cudaMemcpyAsync", at + 5 * kMillisecond, 42 * kMillisecond, 2 * i + 1);
      builder.copy(CopyKind::h2d, at + 6 * kMillisecond, 41 * kMillisecond, 2 * i + 1, 400'000'000);
      at += 50 * kMillisecond;
      add_launch(builder, "aten::square", at, "pow", kMillisecond, 2 * i + 2);
      at += 2 * kMillisecond;
    }
    const auto findings = JudgedTrace(builder).findings(cpu_created_tensors());
    return findings.size() == 1 ? findings[0].evidence[0].text : std::string();
  };
  EXPECT_NE(evidence(14 * kMillisecond).find("in 2 copies"), std::string::npos)
      << evidence(14 * kMillisecond);
  EXPECT_NE(evidence(80 * kMillisecond).find("in 1 copy"), std::string::npos)
      << evidence(80 * kMillisecond);
}

TEST(CpuCreatedTensors, CountFillingInPlaceOnlyWhereTheSizeIsTheCopys) {
  TraceBuilder same;
  made_and_moved(same, "aten::uniform_").shapes("[[32,32],[]]");
  EXPECT_EQ(JudgedTrace(same).findings(cpu_created_tensors()).size(), 1U);
  TraceBuilder other;
  made_and_moved(other, "aten::uniform_").shapes("[[1000],[]]");
  EXPECT_TRUE(JudgedTrace(other).findings(cpu_created_tensors()).empty())
      << "a parameter is initialised, then the model is moved";
}

TEST(CpuCreatedTensors, AreNothingWhereTheyAreMadeOnTheDevice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::zeros", 100, 100);
  builder.runtime("cudaLaunchKernel", 120, 5, 1);
  builder.kernel("fill", 130, 50, 1);
  builder.op("aten::to", 220, 100);
  builder.runtime("cudaMemcpyAsync", 240, 20, 2);
  builder.copy(CopyKind::h2d, 265, 20, 2, 4096);
  EXPECT_TRUE(JudgedTrace(builder).findings(cpu_created_tensors()).empty());
}

TEST(CpuCreatedTensors, AbstainWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.op("aten::zeros", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(cpu_created_tensors()), "");
}

TEST(CpuCreatedTensors, AreToldOfAProcessorThatMostlyMakesThem) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::randn", 0, 800);
  builder.op("aten::normal_", 10, 780);
  builder.op("aten::mm", 800, 200);
  const auto findings = JudgedTrace(builder).findings(cpu_created_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title,
            "Making tensors takes 800 ns (80.0 % of the step), most of it aten::randn");
  EXPECT_EQ(total(findings[0].claims), duration_ns(800));
}

TEST(CpuCreatedTensors, AreNothingWhereAProcessorMakesFew) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::randn", 0, 150);
  builder.op("aten::mm", 150, 850);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(cpu_created_tensors()).empty());
  EXPECT_EQ(judged.abstains(cpu_created_tensors()), "");
}

TEST(CpuCreatedTensors, AreToldByCallsWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::randn", 100, 500);
  builder.op("aten::to", 600, 100);
  builder.op("aten::copy_", 610, 80);
  builder.runtime("cudaMemcpyAsync", 620, 60, 1);
  builder.op("aten::mm", 800, 20);
  builder.runtime("cudaLaunchKernel", 805, 4, 2);
  const auto findings = JudgedTrace(builder).findings(cpu_created_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(whole(findings[0].claims)), 600);
  EXPECT_NE(findings[0].title.find("600 ns"), std::string::npos) << findings[0].title;
}

}  // namespace
}  // namespace fathom
