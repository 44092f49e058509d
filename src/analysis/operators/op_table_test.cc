// The operator table: torch's rules on the host, and where device time goes.
#include "analysis/operators/op_table.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A trace with a table over it.
class Tables {
 public:
  explicit Tables(TraceBuilder& builder) : trace_(builder.build()), analyses_(trace_) {}

  OpTable table(OpGrouping grouping = OpGrouping::name) const {
    return compute_op_table({trace_, analyses_, selection, options}, grouping, rules);
  }
  const Trace& trace() const { return trace_; }

  Selection selection;
  TableOptions options;
  OpRules rules = OpRules::own;

 private:
  Trace trace_;
  Analyses analyses_;
};

OpRow row_of(const OpTable& table, std::string_view name, std::string_view group = "") {
  for (const OpRow& row : table.rows) {
    if (row.name == name && table.groups[row.group] == group) return row;
  }
  ADD_FAILURE() << "no row " << name << " " << group;
  return {};
}

bool has_row(const OpTable& table, std::string_view name) {
  for (const OpRow& row : table.rows) {
    if (row.name == name) return true;
  }
  return false;
}

TEST(OpTable, SumsCallsTotalAndSelfTime) {
  TraceBuilder builder;
  builder.op("aten::linear", 0, 100);
  builder.op("aten::addmm", 10, 60);
  builder.op("aten::addmm", 200, 30);
  const Tables tables(builder);
  const OpTable table = tables.table();
  const OpRow linear = row_of(table, "aten::linear");
  EXPECT_EQ(linear.host_total, duration_ns(100));
  EXPECT_EQ(linear.host_self, duration_ns(40));
  const OpRow addmm = row_of(table, "aten::addmm");
  EXPECT_EQ(addmm.calls, 2);
  EXPECT_EQ(addmm.host_total, duration_ns(90));
  EXPECT_EQ(addmm.host_self, duration_ns(90));
  EXPECT_EQ(table.host_self_sum, duration_ns(130));
}

TEST(OpTable, RowsStandInTheOrderOfTheirFirstEvent) {
  TraceBuilder builder;
  builder.op("late", 500, 10);
  builder.op("early", 10, 10);
  builder.op("late", 5, 1);
  const Tables tables(builder);
  const OpTable table = tables.table();
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].name, "late");
  EXPECT_EQ(table.rows[1].name, "early");
}

TEST(OpTable, AnnotationsAndOperatorsOfOneNameAreTwoRows) {
  TraceBuilder builder;
  builder.op("work", 0, 10);
  builder.annotation("work", 100, 10);
  EXPECT_EQ(Tables(builder).table().rows.size(), 2U);
}

TEST(OpTable, RangesThatWereRecordedAsOperatorsAreAnnotationsButInTorchsTable) {
  TraceBuilder builder;
  builder.op("model_inference", 0, 100);
  builder.op("aten::mm", 10, 60).sequence(3);
  Tables tables(builder);
  EXPECT_EQ(row_of(tables.table(), "model_inference").kind, OpRowKind::annotation);
  EXPECT_EQ(row_of(tables.table(), "aten::mm").kind, OpRowKind::host);
  tables.rules = OpRules::torch;
  EXPECT_EQ(row_of(tables.table(), "model_inference").kind, OpRowKind::host);
}

TEST(OpTable, AsynchronousEventsHaveNoSelfTime) {
  TraceBuilder builder;
  builder.annotation("gloo:all_reduce", 0, 100);
  const OpRow row = row_of(Tables(builder).table(), "gloo:all_reduce");
  EXPECT_TRUE(row.asynchronous);
  EXPECT_EQ(row.host_total, duration_ns(100));
  EXPECT_EQ(row.host_self, Duration());
}

TEST(OpTable, DeviceTimeGoesToTheInnermostOperatorAndAllAround) {
  TraceBuilder builder;
  builder.annotation("forward", 0, 100);
  builder.op("aten::linear", 5, 90);
  builder.op("aten::addmm", 10, 60);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("gemm", 300, 500, 1);
  const Tables tables(builder);
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "aten::addmm").device_self, duration_ns(500));
  EXPECT_EQ(row_of(table, "aten::linear").device_self, Duration());
  EXPECT_EQ(row_of(table, "aten::linear").device_total, duration_ns(500));
  EXPECT_EQ(row_of(table, "forward").device_total, duration_ns(500));
  EXPECT_EQ(row_of(table, "cudaLaunchKernel").device_total, Duration());
}

TEST(OpTable, AnActivityCountsOncePerRowEvenUnderRecursion) {
  TraceBuilder builder;
  builder.op("recurse", 0, 100);
  builder.op("other", 5, 5);
  builder.op("recurse", 10, 60);
  builder.op("leaf", 15, 2);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("k", 300, 500, 1);
  EXPECT_EQ(row_of(Tables(builder).table(), "recurse").device_total, duration_ns(500));
}

TEST(OpTable, WhatWasLaunchedInADroppedOnlyChildBelongsToItsParent) {
  TraceBuilder builder;
  builder.op("aten::add", 0, 100);
  builder.op("aten::add", 10, 80);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("k", 300, 500, 1);
  const OpRow row = row_of(Tables(builder).table(), "aten::add");
  EXPECT_EQ(row.calls, 1);
  EXPECT_EQ(row.device_self, duration_ns(500));
  EXPECT_EQ(row.device_total, duration_ns(500));
}

TEST(OpTable, TheTwoRemaindersHoldWhatHasNoOperator) {
  TraceBuilder builder;
  builder.annotation("step", 0, 100);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("a", 300, 500, 1);
  builder.kernel("b", 900, 50, 2);
  const Tables tables(builder);
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "(no operator)").device_self, duration_ns(500));
  EXPECT_EQ(row_of(table, "(unattributed)").device_self, duration_ns(50));
  EXPECT_EQ(row_of(table, "step").device_total, duration_ns(500));
  EXPECT_EQ(row_of(table, "step").device_self, Duration());
}

TEST(OpTable, ARemainderOfNothingIsNoRow) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.kernel("a", 300, 500, 1);
  builder.kernel("b", 900, 50, 2);
  const Tables tables(builder);
  const OpTable table = tables.table();
  EXPECT_FALSE(has_row(table, "(no operator)"));
  EXPECT_TRUE(has_row(table, "(unattributed)"));
}

TEST(OpTable, WithoutDeviceActivityThereAreNoRemainders) {
  TraceBuilder builder;
  builder.op("a", 0, 1);
  EXPECT_FALSE(has_row(Tables(builder).table(), "(no operator)"));
}

TEST(OpTable, MemoryIsWhatWasRecordedMeanwhileOnAnyThread) {
  TraceBuilder builder;
  builder.op("outer", 0, 100);
  builder.op("inner", 10, 20);
  builder.on_thread(2).memory(15, 1000).memory(50, 24).memory(16, 4096, 1, 0);
  const Tables tables(builder);
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "outer").memory, (MemoryBytes{1024, 4096}));
  EXPECT_EQ(row_of(table, "outer").memory_self, (MemoryBytes{24, 0}));
  EXPECT_EQ(row_of(table, "inner").memory_self, (MemoryBytes{1000, 4096}));
  EXPECT_FALSE(has_row(table, "[memory]"));
}

TEST(OpTable, AllocationsOutsideOfEverythingAreARow) {
  TraceBuilder builder;
  builder.op("a", 0, 10);
  builder.memory(50, 100).memory(60, -40).memory(5, 1);
  const OpRow row = row_of(Tables(builder).table(), "[memory]");
  EXPECT_EQ(row.calls, 2);
  EXPECT_EQ(row.memory, (MemoryBytes{60, 0}));
  EXPECT_EQ(row.memory_self, (MemoryBytes{60, 0}));
}

TEST(OpTable, FlopsComeFromShapesAndAreMissingWithoutThem) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 1).shapes("[[2,3],[3,4]]");
  builder.op("aten::mm", 2, 1).shapes("[[2,3],[3,4]]");
  builder.op("aten::bmm", 4, 1);
  builder.op("aten::relu", 6, 1);
  const Tables tables(builder);
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "aten::mm").flops, 96U);
  EXPECT_FALSE(row_of(table, "aten::mm").flops_missing);
  EXPECT_TRUE(row_of(table, "aten::bmm").flops_missing);
  EXPECT_FALSE(row_of(table, "aten::relu").flops_missing);
}

TEST(OpTable, GroupsByShape) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 1).shapes("[[2,3],[3,4]]");
  builder.op("aten::mm", 2, 5).shapes("[[8,3],[3,4]]");
  builder.op("aten::mm", 9, 7);
  const Tables tables(builder);
  const OpTable table = tables.table(OpGrouping::shape);
  EXPECT_EQ(row_of(table, "aten::mm", "[[8, 3], [3, 4]]").host_total, duration_ns(5));
  EXPECT_EQ(row_of(table, "aten::mm", "[]").host_total, duration_ns(7));
}

TEST(OpTable, GroupsByThreadAndPhase) {
  TraceBuilder builder;
  builder.on_thread(1, 100, "main").op("a", 0, 1);
  builder.on_thread(2).op("a", 0, 3);
  builder.annotation("Optimizer.step#SGD.step", 10, 50);
  builder.op("a", 20, 5);
  Tables tables(builder);
  const OpTable by_thread = tables.table(OpGrouping::thread);
  EXPECT_EQ(row_of(by_thread, "a", "100/1 main").host_total, duration_ns(1));
  EXPECT_EQ(row_of(by_thread, "a", "100/2").host_total, duration_ns(8));
  const OpTable by_phase = tables.table(OpGrouping::phase);
  EXPECT_EQ(row_of(by_phase, "a", "optimizer").host_total, duration_ns(5));
  EXPECT_EQ(row_of(by_phase, "a", "other").host_total, duration_ns(4));
  const OpTable by_place = tables.table(OpGrouping::place);
  EXPECT_EQ(row_of(by_place, "a", "optimizer").host_total, duration_ns(5));
  EXPECT_EQ(row_of(by_place, "a", "other").host_total, duration_ns(4));
}

TEST(OpTable, GroupsByTheInnermostStackEntries) {
  TraceBuilder builder;
  builder.op("a", 0, 1).stack("net.py(3): forward;train.py(9): step;main.py(1): main");
  builder.op("a", 2, 4).stack("net.py(3): forward;test.py(9): step");
  Tables tables(builder);
  tables.options.stack_depth = 1;
  EXPECT_EQ(row_of(tables.table(OpGrouping::stack), "a", "net.py(3): forward").calls, 2);
  tables.options.stack_depth = 2;
  EXPECT_EQ(
      row_of(tables.table(OpGrouping::stack), "a", "net.py(3): forward;train.py(9): step").calls,
      1);
}

TEST(OpTable, BackwardOperatorsTakeTheStackOfTheirForwardOperator) {
  TraceBuilder builder;
  builder.on_thread(1).op("aten::relu", 0, 10).sequence(5).stack("net.py(3): forward");
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: ReluBackward0", 100, 50).sequence(5, 1);
  builder.op("ReluBackward0", 110, 30).sequence(5, 1);
  builder.op("aten::threshold_backward", 120, 10).stack("engine.py(1): run");
  const Tables tables(builder);
  const OpTable table = tables.table(OpGrouping::stack);
  EXPECT_EQ(row_of(table, "aten::threshold_backward", "net.py(3): forward").calls, 1);
  EXPECT_EQ(row_of(table, "ReluBackward0", "net.py(3): forward").calls, 1);
}

TEST(OpTable, SelectsHostEventsAndActivitiesByTheirOwnStart) {
  TraceBuilder builder;
  builder.op("a", 0, 100);
  builder.runtime("cudaLaunchKernel", 20, 10, 1);
  builder.op("b", 200, 100);
  builder.kernel("k", 210, 50, 1);
  Tables tables(builder);
  tables.selection.window = Interval{time_ns(200), time_ns(400)};
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "b").calls, 1);
  EXPECT_EQ(row_of(table, "a").calls, 0);
  EXPECT_EQ(row_of(table, "a").device_self, duration_ns(50));
  EXPECT_EQ(table.device_self_sum, duration_ns(50));
}

TEST(OpTable, TorchsTableHasDeviceRowsAndGoesByExternalId) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100).external_id(7);
  builder.runtime("cudaLaunchKernel", 20, 10, 1).external_id(7);
  builder.kernel("gemm", 300, 500, 1).external_id(7);
  builder.gpu_annotation("ProfilerStep#3", 299, 503);
  Tables tables(builder);
  tables.rules = OpRules::torch;
  const OpTable table = tables.table();
  EXPECT_EQ(row_of(table, "aten::mm").device_self, duration_ns(500));
  EXPECT_EQ(row_of(table, "gemm").device_total, duration_ns(500));
  EXPECT_EQ(row_of(table, "ProfilerStep*").kind, OpRowKind::device_annotation);
  EXPECT_EQ(row_of(table, "ProfilerStep*").device_total, duration_ns(501));
  EXPECT_EQ(table.device_self_sum, duration_ns(500));
  EXPECT_FALSE(has_row(table, "(no operator)"));
}

/// Nested operators of few names with launches here and there, some of them lost.
TraceBuilder random_trace(unsigned seed) {
  constexpr std::string_view kNames[] = {"a", "b", "aten::is_leaf", "nccl:x", "c"};
  std::mt19937 random(seed);
  TraceBuilder builder;
  for (int i = 0; i < 400; ++i) {
    builder.on_thread(random() % 2).on_stream(7, static_cast<std::int32_t>(random() % 2));
    const std::int64_t start = random() % 2000;
    const std::int64_t correlation = random() % 300;
    switch (random() % 4) {
      case 0:
        builder.annotation(kNames[random() % 5], start, random() % 300);
        break;
      case 1:
        builder.runtime("cudaLaunchKernel", start, random() % 10, correlation);
        break;
      case 2:
        builder.kernel("k", start, random() % 100, correlation);
        break;
      default:
        builder.op(kNames[random() % 5], start, random() % 200)
            .shapes(random() % 2 ? "[[1]]" : "[]");
    }
  }
  return builder;
}

TEST(OpTable, ConservesDeviceTimeInEveryGroupingOfRandomTraces) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    TraceBuilder builder = random_trace(seed);
    const Tables tables(builder);
    Duration activities{};
    for (std::size_t row = 0; row < tables.trace().slices.size(); ++row) {
      if (is_device_activity(tables.trace().kind(SliceId(row))))
        activities += tables.trace().slices.duration[row];
    }
    for (const OpGrouping grouping :
         {OpGrouping::name, OpGrouping::shape, OpGrouping::stack, OpGrouping::phase,
          OpGrouping::module, OpGrouping::place, OpGrouping::thread}) {
      const OpTable table = tables.table(grouping);
      Duration sum{};
      for (const OpRow& row : table.rows) {
        sum += row.device_self;
        EXPECT_LE(row.device_self, row.device_total) << row.name;
        EXPECT_LE(row.device_total, activities) << row.name;
      }
      EXPECT_EQ(sum, activities) << "seed " << seed;
      EXPECT_EQ(table.device_self_sum, activities);
    }
  }
}

TEST(OpTable, ConservesDeviceTimeOfAnySelection) {
  TraceBuilder builder = random_trace(99);
  Tables tables(builder);
  tables.selection.window = Interval{time_ns(500), time_ns(1200)};
  tables.selection.device = 1;
  const Trace& trace = tables.trace();
  Duration activities{};
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const Duration at = trace.slices.start[row] - trace.span.begin;
    const bool inside = at >= duration_ns(500) && at < duration_ns(1200);
    const SliceId slice(row);
    if (is_device_activity(trace.kind(slice)) && inside && trace.track(slice).device == 1) {
      activities += trace.slices.duration[row];
    }
  }
  EXPECT_EQ(tables.table().device_self_sum, activities);
}

}  // namespace
}  // namespace fathom
