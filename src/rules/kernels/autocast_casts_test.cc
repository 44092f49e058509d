#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule autocast_casts();

namespace {

constexpr std::string_view kToHalf = R"(["c10::BFloat16","float"])";
constexpr std::string_view kToFloat = R"(["float","c10::BFloat16"])";

/// aten::linear as autocast calls it: it converts input and weight, then calls itself.
void linear(ProgramBuilder& program, std::string_view types) {
  program.around("aten::linear", 3).shapes("[[32,512],[256,512],[]]");
  program.around("aten::_to_copy", 1);
  program.op("aten::copy_", "bfloat16_copy_kernel_cuda", 500)
      .shapes("[[32,512],[32,512],[]]")
      .types(types);
  program.around("aten::_to_copy", 1);
  program.op("aten::copy_", "bfloat16_copy_kernel_cuda", 1500)
      .shapes("[[256,512],[256,512],[]]")
      .types(types);
  program.op("aten::addmm", "gemm", 3000);
}

TEST(AutocastCasts, AreToldWithTheShareOfWeights) {
  ProgramBuilder program(10'000);
  linear(program, kToHalf);
  const auto findings = JudgedTrace(program.trace()).findings(autocast_casts());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title,
            "Autocast converts between 32 and 16 bits: 2.000 µs (20.0 % of the step)");
  EXPECT_NE(findings[0].evidence[0].text.find("1.500 µs (15.0 % of the step) of that weights"),
            std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_EQ(total(findings[0].claims), duration_ns(2000));
  EXPECT_NE(findings[0].fix.after.find("model.to(torch.bfloat16)"), std::string::npos);
}

TEST(AutocastCasts, CountWhatTheBackwardPassConvertsBack) {
  ProgramBuilder program(10'000);
  linear(program, kToHalf);
  program.around("autograd::engine::evaluate_function: ToCopyBackward0", 1);
  program.around("aten::_to_copy", 1);
  program.op("aten::copy_", "direct_copy_kernel_cuda", 1000)
      .shapes("[[256,512],[256,512],[]]")
      .types(kToFloat);
  const auto findings = JudgedTrace(program.trace()).findings(autocast_casts());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(3000));
  EXPECT_NE(findings[0].evidence[0].text.find("gradients"), std::string::npos);
  EXPECT_NE(findings[0].fix.after.find("torch.compile"), std::string::npos);
}

TEST(AutocastCasts, AreKnownByTheirKernelsWhereTypesWereNotRecorded) {
  ProgramBuilder program(10'000);
  program.around("aten::linear", 2);
  program.around("aten::_to_copy", 1);
  program.op("aten::copy_", "bfloat16_copy_kernel_cuda", 1500);
  program.op("aten::addmm", "gemm", 3000);
  EXPECT_EQ(JudgedTrace(program.trace()).findings(autocast_casts()).size(), 1U);
}

TEST(AutocastCasts, AreNothingWhereOneTypeIsOnlyCopied) {
  ProgramBuilder program(10'000);
  linear(program, R"(["float","float"])");
  const JudgedTrace judged(program.trace());
  EXPECT_TRUE(judged.findings(autocast_casts()).empty());
  EXPECT_EQ(judged.abstains(autocast_casts()), "");
}

TEST(AutocastCasts, AreNothingWhereTheProgramConvertsByItself) {
  ProgramBuilder program(10'000);
  program.around("aten::_to_copy", 1);
  program.op("aten::copy_", "bfloat16_copy_kernel_cuda", 1500)
      .shapes("[[256,512],[256,512],[]]")
      .types(kToHalf);
  program.op("aten::addmm", "gemm", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(autocast_casts()).empty());
}

TEST(AutocastCasts, AbstainWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::linear", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(autocast_casts()), "");
}

}  // namespace
}  // namespace fathom
