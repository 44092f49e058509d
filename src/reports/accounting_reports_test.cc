// What accounting, gaps and critical-path say of a small training loop that can be checked by eye.
#include <gtest/gtest.h>

#include "reports/answer.h"

namespace fathom {
namespace {

/// Two steps of 1000: fetch 300, forward with a product, a read of its value, an update.
Trace training() {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 1000;
    builder.step(step + 1, at, 1000);
    builder.frame("train.py(10): main", at, 1000);
    builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 300);
    builder.op("aten::mm", at + 320, 50).sequence(step * 5 + 1).shapes("[[8,8],[8,8]]");
    builder.runtime("cudaLaunchKernel", at + 330, 10, step * 10 + 1);
    builder.kernel("gemm", at + 350, 200, step * 10 + 1).grid(4, 1, 1).block(48, 1, 1);
    builder.frame("train.py(20): log_loss", at + 380, 300);
    builder.op("aten::item", at + 390, 180);
    builder.runtime("cudaStreamSynchronize", at + 400, 160);
    builder.annotation("Optimizer.step#SGD.step", at + 700, 200);
    builder.op("aten::add_", at + 720, 40);
    builder.runtime("cudaLaunchKernel", at + 730, 10, step * 10 + 2);
    builder.kernel("vectorized_elementwise_kernel", at + 750, 100, step * 10 + 2);
  }
  return builder.build();
}

TEST(AccountingReport, SumsToTheStepsHoweverItIsGrouped) {
  const Trace trace = training();
  for (const char* by : {"device", "step", "phase", "class"})
    EXPECT_EQ(Answer("accounting", trace, by).sum("time_ns"), 2000) << by;
}

TEST(AccountingReport, NamesBucketsAndWhatTheyCostPerStep) {
  const Trace trace = training();
  const Answer accounting("accounting", trace);
  EXPECT_EQ(accounting.time_where("bucket", "compute"), 600);
  EXPECT_EQ(accounting.time_where("bucket", "input"), 600);
  EXPECT_EQ(accounting.text(0, "bucket"), "compute");
  EXPECT_EQ(accounting.number(0, "per_step_ns"), 300);
  EXPECT_DOUBLE_EQ(accounting.real(0, "percent"), 30);
}

TEST(AccountingReport, SplitsByPhaseAndSaysByWhatEvidence) {
  const Trace trace = training();
  const Answer accounting("accounting", trace, "phase");
  EXPECT_EQ(accounting.text(0, "phase"), "data");
  EXPECT_EQ(accounting.time_where("phase", "data"), 600);
  EXPECT_GT(accounting.time_where("phase", "optimizer"), 200);
  ASSERT_FALSE(accounting.notes().empty());
  EXPECT_NE(accounting.notes().back().find("annotations (4)"), std::string::npos)
      << accounting.notes().back();
}

TEST(AccountingReport, SplitsComputingByClass) {
  const Trace trace = training();
  const Answer accounting("accounting", trace, "class");
  EXPECT_EQ(accounting.time_where("class", "gemm"), 400);
  EXPECT_EQ(accounting.time_where("class", "elementwise"), 200);
}

TEST(AccountingReport, WithoutModulesSaysHowToRecordThem) {
  const Trace trace = training();
  const Answer accounting("accounting", trace, "module");
  EXPECT_EQ(accounting.rows(), 0U);
  EXPECT_NE(accounting.notes().at(0).find("with_stack"), std::string::npos);
}

TEST(AccountingReport, SaysHowManyGapsAreNotExplained) {
  TraceBuilder builder;
  constexpr std::int32_t kDevices = 200;
  for (std::int32_t i = 0; i < kDevices; ++i) {
    builder.runtime("cudaLaunchKernel", i * 100, 10, i + 1);
    builder.on_stream(7, i).kernel("gemm", (kDevices + i) * 100, 30, i + 1);
  }
  const Trace trace = builder.build();
  for (const char* report : {"accounting", "gaps"}) {
    const Answer answer(report, trace);
    ASSERT_FALSE(answer.notes().empty()) << report;
    EXPECT_NE(answer.notes().back().find(" gaps was not looked for: more devices"),
              std::string::npos)
        << answer.notes().back();
  }
}

TEST(AccountingReport, LooksAtAWindowInsteadOfSteps) {
  const Trace trace = training();
  const Answer accounting(
      "accounting", trace, "device",
      {.steps = {}, .device = {}, .window = Interval{time_ns(0), time_ns(450)}});
  EXPECT_EQ(accounting.sum("time_ns"), 450);
  EXPECT_EQ(accounting.time_where("bucket", "compute"), 100);
}

TEST(AccountingReport, NamesTheDeviceThatIsBusyForTheLeastOfItsTime) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 1000);
  builder.on_stream(7, 0).kernel("gemm", 0, 900);
  builder.on_stream(7, 1).kernel("gemm", 0, 300);
  const Trace trace = builder.build();
  const Answer accounting("accounting", trace);
  EXPECT_EQ(accounting.sum("time_ns"), 2000);
  EXPECT_EQ(accounting.at(accounting.rows() - 1, "worst"), Value(true));
  EXPECT_EQ(accounting.at(0, "worst"), Value(false));
}

TEST(AccountingReport, OfATraceWithoutADeviceIsOfTheMainThread) {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  builder.op("aten::mm", 100, 300).sequence(1);
  const Trace trace = builder.build();
  const Answer accounting("accounting", trace, "step");
  EXPECT_EQ(accounting.sum("time_ns"), 500);
  EXPECT_EQ(accounting.time_where("bucket", "forward"), 300);
  EXPECT_EQ(accounting.time_where("bucket", "python"), 200);
  EXPECT_EQ(accounting.at(0, "device"), Value());
}

TEST(AccountingReport, WithoutAStepOnTheDeviceTakesTheWholeTrace) {
  TraceBuilder builder;
  builder.on_thread(1, 100).step(1, 0, 500);
  builder.on_thread(1, 200).op("aten::mm", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  builder.kernel("gemm", 40, 60, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(Answer("accounting", trace).sum("time_ns"), 500);
}

TEST(GapsReport, TellsOpenerCauseLateOperatorAndLine) {
  const Trace trace = training();
  const Answer gaps("gaps", trace);
  std::int64_t idle = 0;
  for (std::size_t row = 0; row < gaps.rows(); ++row) idle += gaps.number(row, "duration_ns");
  EXPECT_EQ(idle, 2000 - 600);
  // The second gap: after the value was read.
  ASSERT_EQ(gaps.number(1, "start_ns"), 550);
  EXPECT_EQ(gaps.number(1, "duration_ns"), 200);
  EXPECT_EQ(gaps.text(1, "opener"), "sync call");
  EXPECT_EQ(gaps.text(1, "opener_call"), "cudaStreamSynchronize");
  EXPECT_EQ(gaps.text(1, "opener_operator"), "aten::item");
  EXPECT_EQ(gaps.text(1, "cause"), "python");
  EXPECT_EQ(gaps.text(1, "python_line"), "train.py:20");
  EXPECT_EQ(gaps.text(1, "phase"), "optimizer");
  // The third: the next batch is fetched.
  EXPECT_EQ(gaps.text(2, "cause"), "input");
  EXPECT_EQ(gaps.text(2, "phase"), "data");
  EXPECT_EQ(gaps.text(2, "next_operator"), "aten::mm");
}

TEST(CriticalPathReport, PartsSumToTheStepsHoweverTheyAreGrouped) {
  const Trace trace = training();
  for (const char* by : {"part", "step", "name"})
    EXPECT_EQ(Answer("critical-path", trace, by).sum("time_ns"), 2000) << by;
}

TEST(CriticalPathReport, NamesWhoLeads) {
  const Trace trace = training();
  const Answer path("critical-path", trace);
  ASSERT_EQ(path.text(0, "part"), "host");
  EXPECT_EQ(path.text(0, "leading"), "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_GT(path.time_where("part", "device"), 0);
  const Answer names("critical-path", trace, "name");
  EXPECT_EQ(names.time_where("name", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
            600);
}

TEST(KernelsReport, SaysWhatLaunchesWaste) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 30, 1);
  builder.kernel("tiny", 40, 10, 1).grid(4, 1, 1).block(48, 1, 1);
  Trace trace = builder.build();
  Device device;
  device.name = "Tesla V100-SXM2-32GB";
  device.compute_major = 7;
  device.sms = 80;
  trace.devices.push_back(device);
  const Answer kernels("kernels", trace);
  EXPECT_EQ(kernels.text(0, "launch_advice"), "small grid, ragged block, short");
  EXPECT_EQ(kernels.number(0, "short_launches"), 1);
  EXPECT_DOUBLE_EQ(kernels.real(0, "idle_sm_percent"), 95);
  EXPECT_DOUBLE_EQ(kernels.real(0, "idle_lane_percent"), 25);
}

}  // namespace
}  // namespace fathom
