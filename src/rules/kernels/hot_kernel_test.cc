#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule hot_kernel();

namespace {

/// A product of 1 MFLOP takes at least 1 µs, and 120,000 bytes at least 120 µs.
constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .bandwidth = 1e9,
                             .pcie_bandwidth = 1e9};

/// A step of 1 ms with one product that needs 120 µs of memory's time.
void product(ProgramBuilder& program, std::int64_t duration) {
  program.op("aten::mm", "sgemm", duration)
      .shapes("[[100,100],[100,100]]")
      .types(R"(["float","float"])");
}

TEST(HotKernel, IsToldFarBelowItsRoof) {
  ProgramBuilder program(1'000'000);
  product(program, 600'000);
  const std::vector<Finding> findings =
      JudgedTrace(program.trace(), &kDevice).findings(hot_kernel());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("aten::mm reaches 20.0 % of its roof"), 0U) << findings[0].title;
  // At 70 % of its roof it takes 171 µs.
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 600'000 - 171'429, 2);
}

TEST(HotKernel, IsNotOneCallThatWasHeldUp) {
  const auto found = [](std::int64_t usual) {
    ProgramBuilder program(10'000'000);
    for (const std::int64_t duration : {usual, std::int64_t{5'000'000}, usual})
      product(program, duration);
    return JudgedTrace(program.trace(), &kDevice).findings(hot_kernel()).size();
  };
  EXPECT_EQ(found(121'000), 0U) << "the others take 2 % of the step";
  EXPECT_EQ(found(1'000'000), 1U);
}

TEST(HotKernel, IsALongKernelBesideShortOnesOfTheSameCalls) {
  TraceBuilder builder;
  std::int64_t id = 0;
  for (std::int64_t call = 0; call < 3; ++call) {
    const std::int64_t at = call * 700'000;
    builder.op("aten::mm", at, 100).shapes("[[100,100],[100,100]]").types(R"(["float","float"])");
    for (std::int64_t fill = 0; fill < 2; ++fill) {
      builder.runtime("cudaLaunchKernel", at + 10 + 10 * fill, 5, ++id);
      builder.kernel("fill", at + 1'000 + 2'000 * fill, 1'000, id);
    }
    builder.runtime("cudaLaunchKernel", at + 40, 5, ++id);
    builder.kernel("sgemm", at + 10'000, 600'000, id);
  }
  EXPECT_EQ(JudgedTrace(builder.build(), &kDevice).findings(hot_kernel()).size(), 1U);
}

TEST(HotKernel, CountsCallsOfCountedStepsOnly) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    // The kernel before the first step makes it none of those that count.
    if (i > 0) builder.step(i, i * 1'000'000, 1'000'000);
    builder.op("aten::mm", i * 1'000'000 + 900, 50)
        .shapes("[[100,100],[100,100]]")
        .types(R"(["float","float"])");
    builder.runtime("cudaLaunchKernel", i * 1'000'000 + 910, 5, i + 1);
    builder.kernel("sgemm", i * 1'000'000 + 920, 999'900, i + 1);
  }
  const JudgedTrace judged(builder.build(), &kDevice);
  ASSERT_EQ(judged.rules().steps.size(), 1U);
  const std::vector<Finding> findings = judged.findings(hot_kernel());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].evidence[0].text.starts_with("1 call on "))
      << findings[0].evidence[0].text;
}

TEST(HotKernel, SpeaksOfIndicesOnlyWhereThereAreSome) {
  const auto fix_of = [](std::string_view op) {
    ProgramBuilder program(1'000'000);
    program.op(op, "kernel", 590'000).shapes("[[100,100]]").types(R"(["float"])");
    const std::vector<Finding> findings =
        JudgedTrace(program.trace(), &kDevice).findings(hot_kernel());
    return findings.size() == 1 ? findings[0].fix.text + findings[0].evidence[0].text : "";
  };
  EXPECT_NE(fix_of("aten::index_of_no_formula").find("indices"), std::string::npos);
  EXPECT_NE(fix_of("aten::index_of_no_formula").find("depends on the data"), std::string::npos);
  const std::string other = fix_of("aten::_int_mm_of_no_formula");
  EXPECT_NE(other.find("less data"), std::string::npos) << other;
  EXPECT_EQ(other.find("indices"), std::string::npos) << other;
  EXPECT_EQ(other.find("depends on the data"), std::string::npos) << other;
  // "put" is a part of other words, too.
  EXPECT_EQ(fix_of("mine::compute_output_of_no_formula").find("indices"), std::string::npos);
  EXPECT_NE(fix_of("aten::put_of_no_formula").find("indices"), std::string::npos);
}

TEST(HotKernel, NamesAnOperatorThatTakesMostAndHasNoFormula) {
  ProgramBuilder program(1'000'000);
  program.op("aten::no_such_formula", "kernel", 590'000)
      .shapes("[[100,100]]")
      .types(R"(["float"])");
  const std::vector<Finding> findings =
      JudgedTrace(program.trace(), &kDevice).findings(hot_kernel());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("aten::no_such_formula alone takes"), 0U) << findings[0].title;
  EXPECT_TRUE(findings[0].claims.empty()) << "what could be saved is not known";
}

/// A step of 1 ms on the processor, a third of which goes by indices in calls of this length.
std::vector<Finding> gathered_in_calls_of(std::int64_t each) {
  TraceBuilder builder;
  builder.step(1, 0, 1'000'000);
  for (std::int64_t at = 0; at + each <= 330'000; at += each)
    builder.op(at == 0 ? "aten::index" : "aten::_index_put_impl_", at, each);
  builder.op("aten::mm", 400'000, 500'000);
  return JudgedTrace(builder).findings(hot_kernel());
}

TEST(HotKernel, NamesWhatGoesByIndicesWithoutADevice) {
  const std::vector<Finding> findings = gathered_in_calls_of(110'000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "by-index");
  EXPECT_NE(findings[0].title.find("330.0 µs"), std::string::npos) << findings[0].title;
  EXPECT_NE(findings[0].evidence[0].text.find("aten::_index_put_impl_ 220.0 µs, aten::index"),
            std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_TRUE(findings[0].claims.empty()) << "what could be saved is not known";
  EXPECT_TRUE(gathered_in_calls_of(11'000).empty()) << "short calls cost what calling costs";
}

TEST(HotKernel, IsNothingNearItsRoof) {
  ProgramBuilder program(1'000'000);
  product(program, 150'000);
  EXPECT_TRUE(JudgedTrace(program.trace(), &kDevice).findings(hot_kernel()).empty());
}

TEST(HotKernel, IsNothingThatTakesLittleOfTheStep) {
  ProgramBuilder program(100'000'000);
  product(program, 600'000);
  EXPECT_TRUE(JudgedTrace(program.trace(), &kDevice).findings(hot_kernel()).empty());
}

TEST(HotKernel, IsNoCopyBetweenHostAndDevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1'000'000);
  builder.op("aten::copy_", 10, 900'000)
      .shapes("[[100,100],[100,100],[]]")
      .types(R"(["float","float","Scalar"])");
  builder.runtime("cudaMemcpyAsync", 20, 10, 1);
  builder.copy(CopyKind::h2d, 100, 800'000, 1, 40'000);
  EXPECT_TRUE(JudgedTrace(builder, &kDevice).findings(hot_kernel()).empty());
}

TEST(HotKernel, AbstainsWithoutShapesAndWithoutPeaks) {
  ProgramBuilder bare(1'000'000);
  bare.op("aten::mm", "sgemm", 600'000);
  EXPECT_TRUE(
      std::holds_alternative<Abstention>(JudgedTrace(bare.trace(), &kDevice).by(hot_kernel())));
  ProgramBuilder program(1'000'000);
  product(program, 600'000);
  EXPECT_TRUE(std::holds_alternative<Abstention>(JudgedTrace(program.trace()).by(hot_kernel())));
}

TEST(HotKernel, NamesSortingThatTakesMuchOfTheMainThread) {
  const auto found = [](std::string_view name, std::int64_t duration) {
    TraceBuilder builder;
    builder.step(1, 0, 1'000'000);
    builder.op(name, 100, duration);
    builder.op("aten::mul", 600'000, 300'000);
    return JudgedTrace(builder).findings(hot_kernel());
  };
  const auto findings = found("aten::sort", 400'000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("aten::sort alone takes 400.0 µs"), 0U) << findings[0].title;
  EXPECT_TRUE(found("aten::sort", 200'000).empty()) << "too little";
  EXPECT_TRUE(found("aten::bernoulli_", 400'000).empty()) << "as many elements, as much time";
}

TEST(HotKernel, WithoutADeviceNamesWhatNoFormulaPricesFromHalfOfTheStepOn) {
  const auto found = [](std::string_view name, std::int64_t duration) {
    TraceBuilder builder;
    builder.step(0, 0, 1'000'000);
    builder.op(name, 0, duration);
    return JudgedTrace(builder).findings(hot_kernel());
  };
  const std::vector<Finding> findings = found("aten::_ctc_loss", 600'000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "aten::_ctc_loss alone takes 600.0 µs (60.0 % of the step)");
  EXPECT_EQ(findings[0].fix.text.find("Only less of it"), 0U);
  EXPECT_TRUE(found("aten::_ctc_loss", 400'000).empty());
  EXPECT_TRUE(found("aten::copy_", 600'000).empty()) << "priced";
  EXPECT_EQ(found("aten::sort", 400'000).size(), 1U);
}

}  // namespace
}  // namespace fathom
