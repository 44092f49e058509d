// What reports need: each table of the store is missed where it is empty, and only there.
#include "reports/need.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

bool holds(const Trace& trace, StoreTable table) {
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  return !missing(context, {.table = table}).has_value();
}

bool holds(TraceBuilder& builder, StoreTable table) { return holds(builder.build(), table); }

constexpr StoreTable kTables[] = {
    StoreTable::activities, StoreTable::kernels,       StoreTable::copies,
    StoreTable::calls,      StoreTable::module_frames, StoreTable::loader_slices,
    StoreTable::counters,   StoreTable::functions,     StoreTable::process_runs,
};

TEST(Need, MissesEveryTableInAnEmptyTrace) {
  const Trace trace;
  for (const StoreTable table : kTables) EXPECT_FALSE(holds(trace, table));
}

TEST(Need, FindsWhatTheTraceHolds) {
  TraceBuilder kernel;
  kernel.op("aten::mm", 0, 100);
  kernel.runtime("cudaLaunchKernel", 10, 10, 1);
  kernel.kernel("gemm", 50, 100, 1);
  const Trace with_kernel = kernel.build();
  EXPECT_TRUE(holds(with_kernel, StoreTable::activities));
  EXPECT_TRUE(holds(with_kernel, StoreTable::kernels));
  EXPECT_TRUE(holds(with_kernel, StoreTable::calls));
  EXPECT_FALSE(holds(with_kernel, StoreTable::copies));
  EXPECT_FALSE(holds(with_kernel, StoreTable::module_frames));

  TraceBuilder copy;
  copy.copy(CopyKind::h2d, 0, 10, 1, 4);
  const Trace with_copy = copy.build();
  EXPECT_TRUE(holds(with_copy, StoreTable::activities));
  EXPECT_TRUE(holds(with_copy, StoreTable::copies));
  EXPECT_FALSE(holds(with_copy, StoreTable::kernels));
  EXPECT_FALSE(holds(with_copy, StoreTable::calls));

  TraceBuilder module;
  module.frame("nn.Module: Net_0", 0, 100);
  module.op("aten::mm", 10, 10);
  EXPECT_TRUE(holds(module, StoreTable::module_frames));

  TraceBuilder loader;
  loader.annotation("enumerate(DataLoader)#x", 0, 100).category("loader.fetch");
  EXPECT_TRUE(holds(loader, StoreTable::loader_slices));

  TraceBuilder counter;
  counter.sample("power", 0, 1);
  EXPECT_TRUE(holds(counter, StoreTable::counters));
}

TEST(Need, FindsFunctionsAndProcesses) {
  Trace trace;
  trace.functions.push_back({});
  trace.process_runs.push_back({});
  EXPECT_TRUE(holds(trace, StoreTable::functions));
  EXPECT_TRUE(holds(trace, StoreTable::process_runs));
}

TEST(Need, AReportThatMissesOneSaysSoAndHasNoRows) {
  TraceBuilder host_only;
  host_only.op("aten::mm", 0, 100);
  const Trace trace = host_only.build();
  for (const Report& report : all_reports()) {
    if (report.needs.empty()) continue;
    const Answer answer(report.id, trace);
    EXPECT_EQ(answer.rows(), 0U) << report.id;
    ASSERT_EQ(answer.notes().size(), 1U) << report.id;
  }
  EXPECT_EQ(Answer("gaps", trace).notes()[0], "The trace holds no device activity.");
  EXPECT_EQ(Answer("energy", trace).notes()[0],
            "No telemetry was recorded: record with fathom run.")
      << "a report may say it in its own words";
}

}  // namespace
}  // namespace fathom
