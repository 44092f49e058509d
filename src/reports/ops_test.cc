// The report ops: columns, groupings, notes.
#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Answer reported(TraceBuilder& builder, std::string_view report, TableOptions options = {}) {
  return {report, builder.build(), std::move(options)};
}

/// With an option of its own.
Answer reported(TraceBuilder& builder, std::string_view report, std::string_view option,
                OptionValue value) {
  OptionValues own;
  own.set(option, std::move(value));
  return {report, builder.build(), TableOptions(), Selection(), own};
}

Value text(std::string_view value) { return Value(value); }
Value number(std::int64_t value) { return Value(value); }

void add_launch(TraceBuilder& builder) {
  builder.op("aten::addmm", 10, 60).shapes("[[4],[2,3],[3,4],[],[]]");
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("gemm", 300, 500, 1);
}

TEST(Ops, RowsAreSortedByDeviceThenHostSelfTime) {
  TraceBuilder builder;
  builder.op("aten::item", 500, 400);
  add_launch(builder);
  const Answer ops = reported(builder, "ops");
  EXPECT_EQ(ops.at(0, "name"), text("aten::addmm"));
  EXPECT_EQ(ops.at(1, "name"), text("aten::item"));
  EXPECT_EQ(ops.at(0, "device_self_percent"), Value(100.0));
}

TEST(Ops, PausesOfTheCollectorAloneAreNeitherOperatorsNorAStep) {
  for (const bool works : {false, true}) {
    for (const std::string_view report : {"ops", "steps"}) {
      TraceBuilder builder;
      builder.slice(SliceKind::trace_span, "main", 0, 1000).category("phase");
      builder.slice(SliceKind::other, "garbage collection", 100, 10).category("gc");
      if (works) builder.op("aten::mm", 300, 50);
      EXPECT_EQ(reported(builder, report).rows() > 0, works) << report;
    }
  }
  TraceBuilder builder;
  builder.slice(SliceKind::other, "garbage collection", 100, 10).category("gc");
  const Answer overview = reported(builder, "overview");
  for (std::size_t row = 0; row < overview.rows(); ++row)
    EXPECT_EQ(overview.at(row, "section"), text("capture"));
  ASSERT_EQ(overview.notes().size(), 1U);
  EXPECT_TRUE(overview.notes()[0].starts_with("The recording holds neither operators nor steps"));
}

TEST(Ops, MeansAreRounded) {
  TraceBuilder builder;
  builder.op("a", 0, 10);
  builder.op("a", 20, 11);
  const Answer ops = reported(builder, "ops");
  EXPECT_EQ(ops.at(0, "host_mean_ns"), number(11));
}

TEST(Ops, FlopsAreNullWithoutShapes) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  const Answer ops = reported(builder, "ops");
  EXPECT_EQ(ops.at(0, "flops"), Value());
}

TEST(Ops, ShapesStandInTheirColumnWhenGroupedByShape) {
  TraceBuilder builder;
  add_launch(builder);
  const Answer by_name = reported(builder, "ops");
  EXPECT_EQ(by_name.at(0, "input_shapes"), Value());
  TraceBuilder again;
  add_launch(again);
  const Answer by_shape = reported(again, "ops", {.group_by = "shape"});
  EXPECT_EQ(by_shape.at(0, "input_shapes"), text("[[4], [2, 3], [3, 4], [], []]"));
  EXPECT_EQ(by_shape.at(0, "flops"), number(48));
}

TEST(Ops, TorchsTableKeepsTheOrderOfFirstAppearance) {
  TraceBuilder builder;
  builder.op("first", 0, 1);
  add_launch(builder);
  const Answer ops = reported(builder, "ops", "torch", true);
  EXPECT_EQ(ops.at(0, "name"), text("first"));
  EXPECT_EQ(ops.at(ops.rows() - 1, "name"), text("gemm"));
}

TEST(Ops, WhatAnAsynchronousEventLaunchedIsNotKnown) {
  const auto build = [](TraceBuilder& builder) {
    add_launch(builder);
    builder.annotation("nccl:all_reduce", 200, 5000);
    builder.annotation("range", 6000, 10);
  };
  const auto row_of = [](const Answer& ops, std::string_view name) {
    std::size_t row = 0;
    while (ops.text(row, "name") != name) ++row;
    return row;
  };
  TraceBuilder builder;
  build(builder);
  const Answer ops = reported(builder, "ops");
  const std::size_t collective = row_of(ops, "nccl:all_reduce");
  for (const std::string_view column : {"device_total_ns", "device_self_ns", "device_mean_ns",
                                        "device_total_percent", "device_self_percent"}) {
    EXPECT_TRUE(ops.null(collective, column)) << column;
    EXPECT_FALSE(ops.null(row_of(ops, "range"), column)) << column;
  }
  TraceBuilder again;
  build(again);
  const Answer torch = reported(again, "ops", "torch", true);
  EXPECT_EQ(torch.at(row_of(torch, "nccl:all_reduce"), "device_self_ns"), number(0))
      << "torch's text has a zero";
}

TEST(Ops, ALaunchInsideOfAnAsynchronousEventIsItsOwn) {
  TraceBuilder builder;
  builder.op("nccl:all_reduce", 0, 5000);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  builder.kernel("ncclDevKernel_AllReduce", 100, 700, 1);
  const Answer ops = reported(builder, "ops");
  EXPECT_EQ(ops.text(0, "name"), "nccl:all_reduce");
  EXPECT_EQ(ops.at(0, "device_self_ns"), number(700));
}

constexpr std::string_view kOfDevice[] = {"device_total_ns", "device_self_ns", "device_mean_ns",
                                          "device_total_percent", "device_self_percent"};
constexpr std::string_view kOfMemory[] = {"device_memory_bytes", "device_memory_self_bytes",
                                          "host_memory_bytes", "host_memory_self_bytes"};

TEST(Ops, WhatWasNotRecordedIsNullAndSaid) {
  TraceBuilder builder;
  builder.op("a", 0, 1);
  const Answer ops = reported(builder, "ops");
  for (const std::string_view column : kOfDevice) EXPECT_TRUE(ops.null(0, column)) << column;
  for (const std::string_view column : kOfMemory) EXPECT_TRUE(ops.null(0, column)) << column;
  ASSERT_EQ(ops.notes().size(), 2U);
  EXPECT_EQ(ops.notes()[0], "No allocator events were recorded: the memory columns are empty.");
  EXPECT_EQ(ops.notes()[1], "No device activity was recorded: the device columns are empty.");
}

TEST(Ops, WhatWasRecordedAndIsNothingIsZero) {
  TraceBuilder builder;
  builder.op("idle", 500, 10);
  add_launch(builder);
  builder.memory(20, 512);
  const Answer ops = reported(builder, "ops");
  std::size_t row = 0;
  while (row < ops.rows() && ops.text(row, "name") != "idle") ++row;
  ASSERT_LT(row, ops.rows());
  EXPECT_EQ(ops.at(row, "device_self_ns"), number(0));
  for (const std::string_view column : kOfMemory)
    EXPECT_EQ(ops.at(row, column), number(0)) << column;
}

TEST(Ops, TorchsTableHasZerosForWhatWasNotRecorded) {
  TraceBuilder builder;
  builder.op("a", 0, 1);
  const Answer ops = reported(builder, "ops", "torch", true);
  EXPECT_EQ(ops.at(0, "device_self_ns"), number(0));
  for (const std::string_view column : kOfMemory) EXPECT_EQ(ops.at(0, column), number(0)) << column;
  EXPECT_EQ(ops.notes().at(0), "No allocator events were recorded: the memory columns are 0.");
}

TEST(ModulesReport, IsATreeWithTheRestLast) {
  TraceBuilder builder;
  builder.frame("nn.Module: Net_0", 0, 100);
  builder.frame("nn.Module: Linear_0", 5, 80);
  add_launch(builder);
  builder.kernel("lost", 900, 10, 2);
  const Answer modules = reported(builder, "modules");
  ASSERT_EQ(modules.rows(), 3U);
  EXPECT_EQ(modules.at(1, "module"), text("Net_0/Linear_0"));
  EXPECT_EQ(modules.at(1, "depth"), number(1));
  EXPECT_EQ(modules.at(0, "device_total_ns"), number(500));
  EXPECT_EQ(modules.at(0, "device_self_ns"), number(0));
  EXPECT_EQ(modules.at(2, "module"), text("(outside of modules)"));
  EXPECT_EQ(modules.at(2, "host_total_ns"), Value());
}

TEST(ModulesReport, SaysWhatIsMissing) {
  TraceBuilder builder;
  add_launch(builder);
  const Answer modules = reported(builder, "modules");
  EXPECT_EQ(modules.rows(), 0U);
  EXPECT_EQ(modules.notes().size(), 1U);
}

TEST(StacksReport, AbstainsFromAMetricThatWasNotRecorded) {
  TraceBuilder builder;
  builder.op("a", 0, 10);
  const Trace trace = builder.build();
  for (const auto& [metric, reason] :
       {std::pair("device", "The trace holds no device activity."),
        std::pair("blocked", "The recording holds no samples of threads;"),
        std::pair("on-cpu", "The recording holds no samples of threads;")}) {
    OptionValues own;
    own.set("metric", std::string(metric));
    const Answer stacks("stacks", trace, TableOptions(), Selection(), own);
    EXPECT_EQ(stacks.rows(), 0U) << metric;
    ASSERT_EQ(stacks.notes().size(), 1U) << metric;
    EXPECT_TRUE(stacks.notes()[0].starts_with(reason)) << stacks.notes()[0];
  }
}

TEST(StacksReport, CountsTheTimeThatIsAskedFor) {
  TraceBuilder builder;
  add_launch(builder);
  const Answer device = reported(builder, "stacks", "metric", std::string("device"));
  ASSERT_EQ(device.rows(), 1U);
  EXPECT_EQ(device.at(0, "stack"), text("aten::addmm;gemm"));
  EXPECT_EQ(device.at(0, "total_ns"), number(500));
  TraceBuilder again;
  add_launch(again);
  const Answer host = reported(again, "stacks");
  EXPECT_EQ(host.at(0, "stack"), text("aten::addmm"));
  EXPECT_EQ(host.at(0, "total_ns"), number(50));
}

}  // namespace
}  // namespace fathom
