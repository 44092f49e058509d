// What the reports about devices say on small traces that can be checked by eye.
#include <gtest/gtest.h>

#include "reports/answer.h"

namespace fathom {
namespace {

/// Two steps: a product launched by aten::mm and one by aten::addmm, a copy that blocks, a fill.
Trace training() {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  builder.step(2, 500, 500);
  builder.op("aten::mm", 10, 30);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.op("aten::addmm", 510, 30);
  builder.runtime("cudaLaunchKernel", 520, 10, 2);
  builder.op("aten::copy_", 600, 100);
  builder.runtime("cudaMemcpyAsync", 610, 80, 3);
  builder.runtime("cudaMemsetAsync", 700, 5, 4);
  builder.on_stream(7).kernel("gemm", 40, 100, 1).grid(4, 1, 1).block(128, 1, 1);
  builder.on_stream(7).kernel("gemm", 540, 300, 2).grid(8, 1, 1).block(128, 1, 1);
  builder.copy(CopyKind::d2h, 850, 50, 3, 4000).memory(MemoryKind::device, MemoryKind::pageable);
  builder.on_stream(9).fill(860, 100, 4, 64);
  return builder.build();
}

TEST(StepsReport, SplitsEachWindowExactly) {
  const Trace trace = training();
  const Answer steps("steps", trace);
  ASSERT_EQ(steps.rows(), 2U);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(steps.number(row, "compute_ns") + steps.number(row, "exposed_communication_ns") +
                  steps.number(row, "exposed_memcpy_ns") + steps.number(row, "exposed_memset_ns") +
                  steps.number(row, "idle_ns"),
              steps.number(row, "window_ns"));
  }
  EXPECT_EQ(steps.number(1, "exposed_memcpy_ns"), 50);
  EXPECT_EQ(steps.number(1, "exposed_memset_ns"), 60);
  EXPECT_EQ(steps.number(0, "launches"), 1);
  EXPECT_EQ(steps.number(1, "launches"), 3);
  EXPECT_EQ(steps.number(1, "kernels"), 1);
}

TEST(StepsReport, TakesTheSelectedSteps) {
  const Trace trace = training();
  const Answer steps("steps", trace, "",
                     {.steps = Selection::StepRange{2, 9}, .device = {}, .window = {}});
  ASSERT_EQ(steps.rows(), 1U);
  EXPECT_EQ(steps.number(0, "step"), 2);
}

TEST(StepsReport, ShowsStepsWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 500);
  const Trace trace = builder.build();
  const Answer steps("steps", trace);
  ASSERT_EQ(steps.rows(), 1U);
  EXPECT_TRUE(steps.null(0, "device"));
  EXPECT_TRUE(steps.null(0, "busy_ns"));
  EXPECT_EQ(steps.number(0, "window_ns"), 500);
}

TEST(KernelsReport, SumsByNameAndSaysWhatAllLaunchesShare) {
  const Trace trace = training();
  const Answer kernels("kernels", trace);
  ASSERT_EQ(kernels.rows(), 1U);
  EXPECT_EQ(kernels.number(0, "calls"), 2);
  EXPECT_EQ(kernels.number(0, "total_ns"), 400);
  EXPECT_EQ(kernels.number(0, "min_ns"), 100);
  EXPECT_EQ(kernels.number(0, "stddev_ns"), 141);
  EXPECT_TRUE(kernels.null(0, "grid"));
  EXPECT_EQ(kernels.text(0, "block"), "[128,1,1]");
  EXPECT_EQ(kernels.text(0, "ops"), "aten::addmm ×1, aten::mm ×1");
}

TEST(KernelsReport, SplitsByOperatorAndByConfiguration) {
  const Trace trace = training();
  const Answer by_op("kernels", trace, "op");
  ASSERT_EQ(by_op.rows(), 2U);
  EXPECT_EQ(by_op.text(0, "ops"), "aten::mm");
  const Answer by_config("kernels", trace, "config");
  ASSERT_EQ(by_config.rows(), 2U);
  EXPECT_EQ(by_config.text(1, "grid"), "[8,1,1]");
}

TEST(CopiesReport, TellsKindMemorySizeAndSpeed) {
  const Trace trace = training();
  const Answer copies("copies", trace);
  ASSERT_EQ(copies.rows(), 2U);
  EXPECT_EQ(copies.text(0, "kind"), "DtoH");
  EXPECT_EQ(copies.text(0, "destination"), "pageable");
  EXPECT_EQ(copies.number(0, "bytes"), 4000);
  EXPECT_DOUBLE_EQ(copies.real(0, "gb_per_s"), 80);
  EXPECT_EQ(copies.text(1, "kind"), "memset");
}

TEST(KernelsAndCopies, SumToTheDeviceTimeOfEverySelection) {
  const Trace trace = training();
  EXPECT_EQ(Answer("kernels", trace).sum("total_ns") + Answer("copies", trace).sum("total_ns"),
            550);
  std::int64_t steps = 0;
  for (const std::int64_t number : {1, 2}) {
    const Selection one{.steps = Selection::StepRange{number, number}, .device = {}, .window = {}};
    steps += Answer("kernels", trace, "", one).sum("total_ns") +
             Answer("copies", trace, "", one).sum("total_ns");
  }
  EXPECT_EQ(steps, 550);
}

TEST(LaunchesReport, MeasuresDelayQueueAndShortKernels) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 50, 1);
  builder.runtime("cudaLaunchKernel", 60, 5, 2);
  builder.kernel("short", 70, 20, 1);
  builder.kernel("long", 100, 90, 2);
  const Trace trace = builder.build();
  const Answer launches("launches", trace);
  ASSERT_EQ(launches.rows(), 1U);
  EXPECT_EQ(launches.number(0, "calls"), 2);
  EXPECT_EQ(launches.number(0, "host_total_ns"), 55);
  EXPECT_EQ(launches.number(0, "delay_median_ns"), 55);
  EXPECT_EQ(launches.number(0, "delay_max_ns"), 70);
  EXPECT_EQ(launches.number(0, "queue_depth_max"), 2);
  EXPECT_EQ(launches.number(0, "short_kernels"), 1);
}

TEST(LaunchesReport, CountsACallForEachStreamItUses) {
  TraceBuilder builder;
  builder.runtime("cudaGraphLaunch", 0, 5, 1);
  builder.on_stream(1).kernel("a", 10, 5, 1);
  builder.on_stream(2).kernel("b", 10, 5, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(Answer("launches", trace).number(0, "calls"), 1);
  EXPECT_EQ(Answer("launches", trace, "stream").rows(), 2U);
}

TEST(SyncsReport, FallsBackToTheOperatorsRecordedStack) {
  TraceBuilder builder;
  builder.op("aten::item", 0, 100).stack("train.py(7): loss;train.py(3): main");
  builder.runtime("cudaStreamSynchronize", 10, 40);
  const Trace trace = builder.build();
  const Answer syncs("syncs", trace);
  ASSERT_EQ(syncs.rows(), 1U);
  EXPECT_EQ(syncs.text(0, "operator"), "aten::item");
  EXPECT_EQ(syncs.text(0, "python_frame"), "train.py(7): loss");
  EXPECT_EQ(syncs.number(0, "blocked_ns"), 40);
  EXPECT_TRUE(syncs.null(0, "idle_after_ns"));
}

/// A step that reads two values on the host, from two lines, one of them twice.
Trace reading_values() {
  TraceBuilder builder;
  builder.op("aten::item", 0, 100).stack("train.py(7): loss");
  builder.runtime("cudaStreamSynchronize", 10, 40);
  builder.kernel("gemm", 60, 10);
  builder.op("aten::item", 100, 100).stack("train.py(7): loss");
  builder.runtime("cudaStreamSynchronize", 110, 30);
  builder.kernel("gemm", 160, 10);
  builder.op("aten::item", 200, 100).stack("train.py(9): norm");
  builder.runtime("cudaStreamSynchronize", 210, 20);
  builder.kernel("gemm", 280, 10);
  return builder.build();
}

TEST(SyncsReport, SumsTheCallsOfOnePlaceWhenAsked) {
  const Trace trace = reading_values();
  const Answer syncs("syncs", trace, "site");
  ASSERT_EQ(syncs.rows(), 2U);
  EXPECT_EQ(syncs.text(0, "python_frame"), "train.py(7): loss");
  EXPECT_EQ(syncs.number(0, "calls"), 2);
  EXPECT_EQ(syncs.number(0, "blocked_ns"), 70);
  EXPECT_EQ(syncs.number(0, "idle_after_ns"), 30);
  EXPECT_EQ(syncs.number(0, "start_ns"), 10);
  EXPECT_EQ(syncs.number(1, "idle_after_ns"), 50);
}

TEST(SyncsReport, ListsSingleCalls) {
  const Trace trace = reading_values();
  const Answer calls("syncs", trace);
  EXPECT_EQ(calls.rows(), 3U);
  EXPECT_EQ(calls.sum("calls"), 3);
  EXPECT_EQ(calls.sum("blocked_ns"), Answer("syncs", trace, "site").sum("blocked_ns"));
}

TEST(OverviewReport, SplitsTheDevicesWindowExactly) {
  const Trace trace = training();
  const Answer overview("overview", trace);
  const auto value = [&](std::string_view metric) {
    return overview.number(overview.metric(metric), "value");
  };
  EXPECT_EQ(value("window"), 1000);
  EXPECT_EQ(value("compute") + value("communication exposed") + value("memcpy exposed") +
                value("memset exposed") + value("idle"),
            1000);
  EXPECT_EQ(value("busy"), 510);
  EXPECT_EQ(value("memset total"), 100);
  EXPECT_EQ(value("mean"), 500);
  EXPECT_EQ(value("first to last activity"), 920);
}

TEST(OverviewReport, LooksAtTheSelectedWindow) {
  const Trace trace = training();
  const Answer overview("overview", trace, "",
                        {.steps = {}, .device = {}, .window = Interval{time_ns(0), time_ns(140)}});
  EXPECT_EQ(overview.number(overview.metric("window"), "value"), 140);
  EXPECT_EQ(overview.number(overview.metric("busy"), "value"), 100);
}

TEST(OverviewReport, HasAShareOfTensorCoresOnlyWhereNamesOfKernelsShowThem) {
  for (const auto& [call, shown] : {std::pair{"cudaLaunchKernel", true},
                                    {"hipLaunchKernel", true},
                                    {"zeCommandListAppendLaunchKernel", false},
                                    {"runFunction", false}}) {
    TraceBuilder builder;
    builder.op("aten::mm", 10, 30);
    builder.runtime(call, 20, 10, 1);
    builder.kernel("gemm_s16816", 40, 100, 1).grid(4, 1, 1).block(128, 1, 1);
    const Answer overview("overview", builder.build());
    bool named = false;
    for (std::size_t row = 0; row < overview.rows(); ++row)
      named = named || overview.text(row, "metric").find("tensor-core") != std::string::npos;
    EXPECT_EQ(named, shown) << call;
    EXPECT_EQ(overview.number(overview.metric("compute"), "value"), 100) << call;
  }
}

TEST(OverviewReport, OfATraceWithoutADeviceGoesByHostTime) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 70);
  builder.op("aten::relu", 100, 30);
  const Trace trace = builder.build();
  const Answer overview("overview", trace);
  const std::size_t row = overview.metric("aten::mm");
  EXPECT_EQ(overview.text(row, "section"), "top operators · host self time");
  EXPECT_EQ(overview.number(row, "value"), 70);
}

TEST(OverviewReport, NamesEveryLossOfDataWhateverElseIsWrong) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 200; ++i) builder.kernel("gemm", i * 100, 50, 1);
  builder.runtime("cudaLaunchKernel", 0, 5, 2);
  Trace trace = builder.build();
  trace.import.add(Repair::truncated, 900);
  const Answer overview("overview", trace);
  EXPECT_NE(overview.text(overview.metric("health"), "value").find("have no launch"),
            std::string::npos);
  EXPECT_EQ(overview.text(overview.metric("incomplete"), "value"),
            "the file ends in the middle of an event: the end of the recording is missing");
}

/// Devices that idle the more, the higher their number; each with a name and with memory.
Trace fleet(std::int32_t devices) {
  TraceBuilder builder;
  builder.step(1, 0, std::int64_t{10} * devices + 100);
  for (std::int32_t device = 0; device < devices; ++device) {
    const std::int64_t at = std::int64_t{2} * device;
    builder.device({.id = device, .name = "NVIDIA H100", .memory_bytes = 80'000'000'000});
    builder.op("aten::mm", at, 2);
    builder.runtime("cudaLaunchKernel", at, 1, device + 1);
    const std::int64_t time = std::int64_t{8} * (devices - device) + 1;
    builder.on_stream(7, device).kernel("gemm", at + 1, time, device + 1);
    builder.memory(at, 512, 1, device, 0, 1000 + device, 4096);
  }
  return builder.build();
}

TEST(OverviewReport, OfManyDevicesIsAScreenOfTheIdlest) {
  for (const std::int32_t devices : {3, 256, 1024}) {
    const Answer overview("overview", fleet(devices));
    EXPECT_LE(overview.brief().rows(), 40U) << devices;
    const auto sections = overview.brief_column("section");
    EXPECT_TRUE(sections.contains("device " + std::to_string(devices - 1) +
                                  " · NVIDIA H100, the idlest of " + std::to_string(devices)));
    EXPECT_FALSE(sections.contains("device 0 · NVIDIA H100"));
    const auto metrics = overview.brief_column("metric");
    EXPECT_TRUE(metrics.contains("device " + std::to_string(devices - 2) + " · NVIDIA H100"));
    EXPECT_TRUE(metrics.contains("median of all " + std::to_string(devices)));
    EXPECT_TRUE(metrics.contains("most memory allocated"));
  }
}

TEST(InfoReport, OfManyDevicesShowsTheirKinds) {
  for (const std::int32_t devices : {3, 1024}) {
    const Answer info("info", fleet(devices));
    EXPECT_LE(info.brief().rows(), 35U) << devices;
    EXPECT_TRUE(info.brief_column("name").contains(std::to_string(devices) + " devices"));
    EXPECT_GE(info.rows(), static_cast<std::size_t>(2 * devices));
  }
}

TEST(OverviewReport, KeepsEveryDeviceForMachines) {
  const Answer overview("overview", fleet(256));
  std::size_t windows = 0;
  for (std::size_t row = 0; row < overview.rows(); ++row) {
    EXPECT_EQ(overview.text(row, "section").find("idlest"), std::string::npos);
    if (overview.text(row, "metric") == "window") {
      EXPECT_EQ(overview.text(row, "section"),
                "device " + std::to_string(windows) + " · NVIDIA H100");
      ++windows;
    }
  }
  EXPECT_EQ(windows, 256U);
}

}  // namespace
}  // namespace fathom
