// The short way to self times agrees with the operator table.
#include "analysis/operators/op_self_times.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/operators/op_table.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

using Times = std::multimap<std::string, Duration>;

Times rows_of(const OpSelfTimes& times) {
  Times rows;
  for (const OpSelfTime& row : times.rows) rows.emplace(row.name, row.self);
  return rows;
}

/// Rows of the operator table that have this time.
Times rows_of(const OpTable& table, Duration OpRow::*time) {
  Times rows;
  for (const OpRow& row : table.rows) {
    if (row.*time != Duration()) rows.emplace(row.name, row.*time);
  }
  return rows;
}

/// Nested operators, an annotation of an operator's name, an asynchronous event, an overload.
void add_host(TraceBuilder& builder) {
  builder.op("aten::linear", 0, 100);
  builder.op("aten::addmm", 10, 60);
  builder.op("aten::addmm.out", 20, 30);
  builder.annotation("aten::linear", 200, 50);
  builder.op("nccl:all_reduce", 210, 500);
  builder.op("aten::linear", 220, 10);
  builder.annotation("ProfilerStep#1", 800, 100);
  builder.annotation("ProfilerStep#2", 900, 100);
}

TEST(OpSelfTimes, AreHostTimesOfTheOperatorTableWithoutDeviceTime) {
  TraceBuilder builder;
  add_host(builder);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Context context{trace, analyses, {}, {}};
  const OpSelfTimes times = compute_op_self_times(context);
  const OpTable table = compute_op_table(context, OpGrouping::name);
  EXPECT_FALSE(times.on_device);
  EXPECT_EQ(times.sum, table.host_self_sum);
  EXPECT_EQ(rows_of(times), rows_of(table, &OpRow::host_self));
}

TEST(OpSelfTimes, AreDeviceTimesOfTheOperatorTableWhereThereAreSome) {
  TraceBuilder builder;
  add_host(builder);
  builder.runtime("cudaLaunchKernel", 30, 5, 1);
  builder.runtime("cudaLaunchKernel", 225, 2, 2);
  builder.runtime("cudaLaunchKernel", 750, 5, 3);
  builder.kernel("a", 100, 40, 1);
  builder.kernel("b", 300, 50, 2);
  builder.kernel("c", 800, 60, 3);
  builder.kernel("d", 900, 70, 4);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  for (const bool windowed : {false, true}) {
    Context context{trace, analyses, {}, {}};
    if (windowed) context.selection.window = Interval{time_ns(200), time_ns(850)};
    const OpSelfTimes times = compute_op_self_times(context);
    const OpTable table = compute_op_table(context, OpGrouping::name);
    EXPECT_TRUE(times.on_device);
    EXPECT_EQ(times.sum, table.device_self_sum);
    EXPECT_EQ(rows_of(times), rows_of(table, &OpRow::device_self));
  }
}

}  // namespace
}  // namespace fathom
