// What is done only once, on traces small enough to be read.
#include "analysis/accounting/one_off.h"

#include <gtest/gtest.h>

#include "analysis/accounting/accounting.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// The time of a trace in the bucket warm-up, of its device or of its main thread.
class WarmUp {
 public:
  explicit WarmUp(TraceBuilder& builder) : trace_(builder.build()), analyses_(trace_) {}
  [[nodiscard]] std::int64_t ns() const {
    const Accounting& accounting = context_.accounting();
    if (!accounting.devices.empty())
      return to_ns(account(context_, accounting, 0, trace_.span)[Bucket::warm_up]);
    Duration sum{};
    for (const HostPiece& piece : accounting.host)
      if (piece.bucket == HostBucket::warm_up) sum += piece.interval.length();
    return to_ns(sum);
  }
  [[nodiscard]] const std::vector<OneOff>& all() const {
    return context_.accounting().one_off.all();
  }

 private:
  Trace trace_;
  Analyses analyses_;
  Context context_{trace_, analyses_, {}, {}};
};

/// An operator that launches a kernel for `launching` ns, 10 ns before its end.
void launch(TraceBuilder& builder, std::string_view op, std::string_view kernel, std::int64_t at,
            std::int64_t length, std::int64_t launching, std::int64_t id) {
  builder.op(op, at, length);
  builder.runtime("cudaLaunchKernel", at + length - launching - 10, launching, id);
  builder.kernel(kernel, at + length, 1000, id);
}

TEST(OneOff, IsAFirstLaunchOfMilliseconds) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 5 * kMs, 1);
  builder.kernel("gemm", 5 * kMs, kMs, 1);
  builder.runtime("cudaLaunchKernel", 10 * kMs, 5 * kMs, 2);
  builder.kernel("gemm", 15 * kMs, kMs, 2);
  EXPECT_EQ(WarmUp(builder).ns(), 5 * kMs);
}

TEST(OneOff, IsAFirstOperatorWithTheLibraryThatItStarts) {
  TraceBuilder builder;
  builder.op("aten::addmm", 0, 60 * kMs);
  builder.runtime("cudaFree", 2 * kMs, 10 * kMs);
  builder.runtime("cudaMalloc", 13 * kMs, 100'000);
  builder.runtime("cudaLaunchKernel", 59 * kMs, 1000, 1);
  builder.kernel("ampere_sgemm_128x64_tn", 60 * kMs, kMs, 1);
  launch(builder, "aten::addmm", "ampere_sgemm_128x64_tn", 62 * kMs, 20'000, 5000, 2);
  // All up to the launch but the short allocation.
  EXPECT_EQ(WarmUp(builder).ns(), 59 * kMs + 1000 - 100'000);
}

TEST(OneOff, IsNoOperatorThatTakesAsLongEachTime) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i)
    launch(builder, "aten::nonzero", "cub", 10 * kMs * i, 5 * kMs, 5000, i + 1);
  EXPECT_EQ(WarmUp(builder).ns(), 0);
}

TEST(OneOff, IsTheFirstCallWithItsArguments) {
  TraceBuilder builder;
  launch(builder, "aten::mm", "conv", 0, 20'000, 5000, 1);
  for (int i = 1; i < 5; ++i) {
    const std::int64_t at = 50 * kMs * i;
    builder.op("aten::conv2d", at, i == 1 ? 40 * kMs : 20'000).shapes("[[8,3,224,224]]");
    builder.runtime("cudaLaunchKernel", at + 10'000, 5000, i + 1);
    builder.kernel("conv", at + 30'000, 1000, i + 1);
  }
  // The device idles in it but for the launch latency before and the kernel of 1 µs.
  EXPECT_NEAR(static_cast<double>(WarmUp(builder).ns()), 40.0 * kMs, 0.01 * kMs);
}

/// A convolution of cuDNN that launches a kernel at its end.
void convolve(TraceBuilder& builder, std::string_view shapes, std::int64_t at, std::int64_t length,
              std::int64_t id) {
  builder.op("aten::cudnn_convolution", at, length).shapes(shapes);
  builder.runtime("cudaLaunchKernel", at + length - 5010, 5000, id);
  builder.kernel("conv", at + length, 1000, id);
}

TEST(OneOff, IsTheChoiceOfAnAlgorithmForEachNewShape) {
  TraceBuilder builder;
  launch(builder, "aten::mm", "conv", 0, 20'000, 5000, 1);
  convolve(builder, "[[8,4,100]]", 10 * kMs, 2 * kMs, 2);
  convolve(builder, "[[8,64,100]]", 20 * kMs, 2 * kMs, 3);
  convolve(builder, "[[8,64,100]]", 30 * kMs, 40'000, 4);
  convolve(builder, "[[8,64,200]]", 40 * kMs, 2 * kMs, 5);
  EXPECT_EQ(WarmUp(builder).all().size(), 3U);
}

TEST(OneOff, IsNoConvolutionThatTakesAsLongWithTheSameShape) {
  TraceBuilder builder;
  launch(builder, "aten::mm", "conv", 0, 20'000, 5000, 1);
  convolve(builder, "[[8,4,100]]", 10 * kMs, 2 * kMs, 2);
  convolve(builder, "[[8,64,100]]", 20 * kMs, 2 * kMs, 3);
  convolve(builder, "[[8,64,100]]", 30 * kMs, 2 * kMs, 4);
  EXPECT_EQ(WarmUp(builder).ns(), 0);
}

TEST(OneOff, IsTheTimeInNothingBeforeTheFirstCallOfAScriptedFunction) {
  TraceBuilder builder;
  launch(builder, "aten::mm", "gemm", 0, 20'000, 5000, 1);
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = (i == 0 ? 300 : 301) * kMs;
    builder.op("delta_r2", at, 500'000);
    builder.op("fallback_function", at + 10'000, 400'000);
    builder.op("aten::sub", at + 20'000, 20'000);
    builder.runtime("cudaLaunchKernel", at + 30'000, 5000, 2 + i);
    builder.kernel("sub", at + 40'000, 1000, 2 + i);
  }
  // From the end of the first operator.
  EXPECT_NEAR(static_cast<double>(WarmUp(builder).ns()), 300.0 * kMs, 0.1 * kMs);
}

TEST(OneOff, IsNoTimeInNothingBeforeAnyOtherOperator) {
  TraceBuilder builder;
  launch(builder, "aten::mm", "gemm", 0, 20'000, 5000, 1);
  launch(builder, "aten::sub", "sub", 300 * kMs, 20'000, 5000, 2);
  EXPECT_EQ(WarmUp(builder).ns(), 0);
}

TEST(OneOff, IsTheTimeBeforeTheFirstLaunchOfGeneratedCode) {
  TraceBuilder builder;
  builder.op("delta_r2", 0, 100 * kMs);
  builder.op("fallback_function", 80 * kMs, kMs);
  builder.driver("cuLaunchKernel", 80 * kMs + 500'000, 1000, 1);
  builder.kernel("fused__autocast_to__15680171862954066917", 81 * kMs, kMs, 1);
  const WarmUp warm_up(builder);
  EXPECT_EQ(warm_up.ns(), 80 * kMs);
  ASSERT_EQ(warm_up.all().size(), 1U);
  EXPECT_EQ(warm_up.all().front().kind, OneOffKind::first_operator);
}

TEST(OneOff, IsWhatTheProfilerMarksAsLoading) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 400'000, 1);
  builder.kernel("gemm", 400'000, 1000, 1);
  builder.on_thread(2);
  builder.slice(SliceKind::overhead, "Runtime Triggered Module Loading", 10'000, 300'000);
  EXPECT_EQ(WarmUp(builder).ns(), 300'000);
}

TEST(OneOff, IsCompilationInTheFirstStepAlone) {
  const auto compile_in = [](int steps) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      builder.step(i, 100 * kMs * i, 100 * kMs);
      if (i < steps) builder.op("Inductor (dynamo_timed)", 100 * kMs * i + kMs, 50 * kMs);
      builder.runtime("cudaLaunchKernel", 100 * kMs * i + 90 * kMs, 1000, i + 1);
      builder.kernel("gemm", 100 * kMs * i + 90 * kMs + 2000, kMs, i + 1);
    }
    return WarmUp(builder).ns();
  };
  EXPECT_EQ(compile_in(1), 50 * kMs);
  EXPECT_EQ(compile_in(3), 0);
}

TEST(OneOff, IsTheCaptureOfAGraphAndWhatPreparesIt) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 1000, 1);
  builder.kernel("gemm", 1000, 1000, 1);
  builder.runtime("cudaDeviceSynchronize", 10'000, 1000);
  builder.runtime("cudaFree", 20'000, 1000);
  builder.runtime("cudaStreamBeginCapture", 30'000, 1000);
  builder.runtime("cudaLaunchKernel", 40'000, 1000, 2);
  builder.runtime("cudaStreamEndCapture", 50'000, 1000);
  builder.runtime("cudaGraphLaunch", 60'000, 1000, 3);
  builder.kernel("gemm", 62'000, 1000, 3).graph_node(1);
  EXPECT_EQ(WarmUp(builder).ns(), 41'000);
}

TEST(OneOff, IsTheContextThatAFirstCopyMakesWhereNoDeviceWasRecorded) {
  TraceBuilder builder;
  builder.op("aten::to", 0, 3800 * kMs);
  builder.op("aten::mm", 3800 * kMs, 200 * kMs);
  builder.op("aten::to", 4000 * kMs, kMs);
  EXPECT_EQ(WarmUp(builder).ns(), 3800 * kMs);
}

TEST(OneOff, IsTheChoiceOfAnAlgorithmWhereNoDeviceWasRecorded) {
  const auto program = [](std::string_view name, std::int64_t later) {
    TraceBuilder builder;
    builder.op(name, 0, 2300 * kMs);
    for (std::int64_t i = 0; i < 3; ++i) builder.op(name, 2400 * kMs + i * later, later);
    return WarmUp(builder).ns();
  };
  EXPECT_EQ(program("aten::cudnn_convolution", 40 * kMs), 2300 * kMs);
  EXPECT_EQ(program("aten::cudnn_convolution", 400 * kMs), 0);
  EXPECT_EQ(program("aten::mkldnn_convolution", 40 * kMs), 0);
}

TEST(OneOff, IsTheFirstAllocationOfADeviceAfterThoseOfTheProcessor) {
  TraceBuilder builder;
  builder.op("aten::empty", 0, 1000);
  builder.op("aten::empty", 10'000, 500 * kMs);
  builder.op("aten::empty", 600 * kMs, 1000);
  EXPECT_EQ(WarmUp(builder).ns(), 500 * kMs);
}

TEST(OneOff, IsNoShortTurnOfAnotherProgramAfterStepsThatWereNotRecorded) {
  const auto of = [](std::int64_t step, std::int64_t milliseconds) {
    TraceBuilder builder;
    builder.step(step, 0, 100 * kMs);
    launch(builder, "aten::addmm", "gemm", 0, milliseconds * kMs, 1000, 1);
    launch(builder, "aten::addmm", "gemm", 50 * kMs, 50'000, 1000, 2);
    return WarmUp(builder).ns();
  };
  EXPECT_GT(of(0, 5), 0);
  EXPECT_EQ(of(2, 5), 0);
  EXPECT_GT(of(2, 20), 0);
}

}  // namespace
}  // namespace fathom
