// The report ops: columns, groupings, notes.
#include <gtest/gtest.h>

#include "reports/report.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// One report over one trace, cells by column name.
class Reported {
 public:
  Reported(TraceBuilder& builder, std::string_view report, TableOptions options = {})
      : trace_(builder.build()), analyses_(trace_), report_(*find_report(report)) {
    Result<Table> computed = report_.compute({trace_, analyses_, {}, std::move(options)});
    EXPECT_TRUE(computed.ok());
    table = std::move(*computed);
  }
  [[nodiscard]] Value cell(std::size_t row, std::string_view column) const {
    for (std::size_t i = 0; i < report_.columns.size(); ++i) {
      if (report_.columns[i].name == column) return table.rows.at(row).at(i);
    }
    ADD_FAILURE() << "no column " << column;
    return {};
  }
  Table table;

 private:
  Trace trace_;
  Analyses analyses_;
  const Report& report_;
};

Value text(std::string_view value) { return Value(std::string(value)); }
Value number(std::int64_t value) { return Value(value); }

void add_launch(TraceBuilder& builder) {
  builder.op("aten::addmm", 10, 60).shapes("[[4],[2,3],[3,4],[],[]]");
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("gemm", 300, 500, 1);
}

TEST(Ops, EveryRowHasEveryColumn) {
  TraceBuilder builder;
  add_launch(builder);
  const Reported ops(builder, "ops");
  for (const auto& row : ops.table.rows) {
    EXPECT_EQ(row.size(), find_report("ops")->columns.size());
  }
}

TEST(Ops, RowsAreSortedByDeviceThenHostSelfTime) {
  TraceBuilder builder;
  builder.op("aten::item", 500, 400);
  add_launch(builder);
  const Reported ops(builder, "ops");
  EXPECT_EQ(ops.cell(0, "name"), text("aten::addmm"));
  EXPECT_EQ(ops.cell(1, "name"), text("aten::item"));
  EXPECT_EQ(ops.cell(0, "device_self_percent"), Value(100.0));
}

TEST(Ops, MeansAreRounded) {
  TraceBuilder builder;
  builder.op("a", 0, 10);
  builder.op("a", 20, 11);
  const Reported ops(builder, "ops");
  EXPECT_EQ(ops.cell(0, "host_mean_ns"), number(11));
}

TEST(Ops, FlopsAreNullWithoutShapes) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  const Reported ops(builder, "ops");
  EXPECT_EQ(ops.cell(0, "flops"), Value());
}

TEST(Ops, ShapesStandInTheirColumnWhenGroupedByShape) {
  TraceBuilder builder;
  add_launch(builder);
  const Reported by_name(builder, "ops");
  EXPECT_EQ(by_name.cell(0, "input_shapes"), Value());
  TraceBuilder again;
  add_launch(again);
  const Reported by_shape(again, "ops", {.group_by = "shape"});
  EXPECT_EQ(by_shape.cell(0, "input_shapes"), text("[[4], [2, 3], [3, 4], [], []]"));
  EXPECT_EQ(by_shape.cell(0, "flops"), number(48));
}

TEST(Ops, TorchsTableKeepsTheOrderOfFirstAppearance) {
  TraceBuilder builder;
  builder.op("first", 0, 1);
  add_launch(builder);
  const Reported ops(builder, "ops", {.torch = true});
  EXPECT_EQ(ops.cell(0, "name"), text("first"));
  EXPECT_EQ(ops.cell(ops.table.rows.size() - 1, "name"), text("gemm"));
}

TEST(Ops, WhatWasNotRecordedIsSaid) {
  TraceBuilder builder;
  builder.op("a", 0, 1);
  EXPECT_EQ(Reported(builder, "ops").table.notes.size(), 2U);
}

TEST(ModulesReport, IsATreeWithTheRestLast) {
  TraceBuilder builder;
  builder.frame("nn.Module: Net_0", 0, 100);
  builder.frame("nn.Module: Linear_0", 5, 80);
  add_launch(builder);
  builder.kernel("lost", 900, 10, 2);
  const Reported modules(builder, "modules");
  ASSERT_EQ(modules.table.rows.size(), 3U);
  EXPECT_EQ(modules.cell(1, "module"), text("Net_0/Linear_0"));
  EXPECT_EQ(modules.cell(1, "depth"), number(1));
  EXPECT_EQ(modules.cell(0, "device_total_ns"), number(500));
  EXPECT_EQ(modules.cell(0, "device_self_ns"), number(0));
  EXPECT_EQ(modules.cell(2, "module"), text("(outside of modules)"));
  EXPECT_EQ(modules.cell(2, "host_total_ns"), Value());
}

TEST(ModulesReport, SaysWhatIsMissing) {
  TraceBuilder builder;
  add_launch(builder);
  const Reported modules(builder, "modules");
  EXPECT_TRUE(modules.table.rows.empty());
  EXPECT_EQ(modules.table.notes.size(), 1U);
}

TEST(StacksReport, CountsTheTimeThatIsAskedFor) {
  TraceBuilder builder;
  add_launch(builder);
  const Reported device(builder, "stacks", {.metric = "device"});
  ASSERT_EQ(device.table.rows.size(), 1U);
  EXPECT_EQ(device.cell(0, "stack"), text("aten::addmm;gemm"));
  EXPECT_EQ(device.cell(0, "total_ns"), number(500));
  TraceBuilder again;
  add_launch(again);
  const Reported host(again, "stacks");
  EXPECT_EQ(host.cell(0, "stack"), text("aten::addmm"));
  EXPECT_EQ(host.cell(0, "total_ns"), number(50));
}

}  // namespace
}  // namespace fathom
