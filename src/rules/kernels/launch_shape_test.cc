#include <tuple>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule launch_shape();

namespace {

JudgedTrace launched(std::int32_t blocks, std::int32_t threads) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::sum", "reduce", 5400);
  program.kernel().config(
      {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .registers = 32, .shared_memory = 0});
  return JudgedTrace(program.trace());
}

TEST(LaunchShape, IsToldOfGridsSmallerThanTheDevice) {
  const JudgedTrace judged = launched(27, 256);
  const auto findings = judged.findings(launch_shape());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(4050)) << "81 of 108 multiprocessors idle";
}

TEST(LaunchShape, IsToldOfAPartialLastWave) {
  // Eight blocks of 256 threads fit on a multiprocessor: 864 at a time.
  const auto findings = launched(900, 256).findings(launch_shape());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("last wave"), std::string::npos);
}

TEST(LaunchShape, ChargesTheEmptyPartOfTheLastWaveOnly) {
  // 864 at a time: 1.04 waves lose nearly half, 4.94 waves one percent.
  const JudgedTrace little = launched(900, 256);
  const auto findings = little.findings(launch_shape());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 5400 * 828.0 / 1728, 2);
  EXPECT_TRUE(launched(4268, 256).findings(launch_shape()).empty());
}

TEST(LaunchShape, GivesNoAdviceOnTheTilesOfALibrary) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::mm", "ampere_sgemm_128x64_tn", 5400);
  program.kernel().config(
      {.grid = {900, 1, 1}, .block = {256, 1, 1}, .registers = 32, .shared_memory = 0});
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(launch_shape()).empty());
}

TEST(LaunchShape, AdvisesTheCompilersTilesForWhatItTiles) {
  for (const auto& [op, kernel, compiled, split] :
       {std::tuple("aten::mm", "ampere_sgemm_128x64_tn", true, true),
        std::tuple("aten::convolution", "implicit_convolve_sgemm", true, false),
        std::tuple("vllm::attention", "flash::flash_fwd_splitkv_kernel", false, false),
        std::tuple("aten::sum", "reduce", false, false)}) {
    ProgramBuilder program(10'000);
    program.trace().device(a100());
    program.op(op, kernel, 5400);
    program.kernel().config(
        {.grid = {27, 1, 1}, .block = {256, 1, 1}, .registers = 32, .shared_memory = 0});
    const auto findings = JudgedTrace(program.trace()).findings(launch_shape());
    ASSERT_EQ(findings.size(), 1U) << kernel;
    const std::string& text = findings[0].fix.text;
    EXPECT_EQ(text.find("max-autotune") != std::string::npos, compiled) << text;
    EXPECT_EQ(text.find("split-K") != std::string::npos, split) << text;
  }
}

TEST(LaunchShape, TellsTheWaysOfOneKernelApart) {
  ProgramBuilder program(20'000);
  program.trace().device(a100());
  for (const std::int32_t blocks : {27, 900}) {
    program.op("aten::sum", "reduce", 5400);
    program.kernel().config(
        {.grid = {blocks, 1, 1}, .block = {256, 1, 1}, .registers = 32, .shared_memory = 0});
  }
  const auto findings = JudgedTrace(program.trace()).findings(launch_shape());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].key, "reduce/small-grid");
  EXPECT_EQ(findings[1].key, "reduce/tail");
}

TEST(LaunchShape, IsNothingForFullWaves) {
  EXPECT_TRUE(launched(864, 256).findings(launch_shape()).empty());
  EXPECT_TRUE(launched(86'500, 256).findings(launch_shape()).empty());
}

TEST(LaunchShape, AbstainsWithoutTheDevicesLimits) {
  ProgramBuilder program(10'000);
  program.op("aten::sum", "reduce", 5000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(launch_shape()), "");
}

/// A kernel of 27 blocks, and one of `beside` ns on another stream that starts with it.
JudgedTrace launched_beside(std::int64_t beside) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::sum", "reduce", 5400);
  program.kernel().config(
      {.grid = {27, 1, 1}, .block = {256, 1, 1}, .registers = 32, .shared_memory = 0});
  program.trace().on_stream(20).kernel("other", 1000, beside);
  return JudgedTrace(program.trace());
}

TEST(LaunchShape, IsNothingWhereAnotherKernelUsesTheRest) {
  EXPECT_TRUE(launched_beside(5000).findings(launch_shape()).empty());
  EXPECT_EQ(launched_beside(500).findings(launch_shape()).size(), 1U);
}

}  // namespace
}  // namespace fathom
