#include "engine/diagnosis/checklist.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

std::vector<ChecklistItem> checklist_of(TraceBuilder& trace) {
  const Session session(trace.build(), "trace.json");
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  return diagnosis.ok() ? diagnosis->checklist : std::vector<ChecklistItem>();
}

ChecklistItem item(const std::vector<ChecklistItem>& items, std::string_view id) {
  const auto at = std::ranges::find(items, id, &ChecklistItem::id);
  return at == items.end() ? ChecklistItem{.id = "missing", .title = {}, .reason = {}} : *at;
}

TraceBuilder steps(std::int64_t count) {
  TraceBuilder trace;
  for (std::int64_t i = 0; i < count; ++i) {
    trace.step(i, 10'000 * i, 10'000);
    trace.op("aten::mm", 10'000 * i, 9000 + 10 * i);
  }
  return trace;
}

TEST(Checklist, TellsALongRecordingFromAShortOne) {
  TraceBuilder few = steps(1);
  TraceBuilder many = steps(8);
  const ChecklistItem of_few = item(checklist_of(few), "long_enough");
  const ChecklistItem of_many = item(checklist_of(many), "long_enough");
  EXPECT_EQ(of_few.status, ChecklistStatus::not_met) << of_few.reason;
  EXPECT_EQ(of_many.status, ChecklistStatus::met) << of_many.reason;
  EXPECT_TRUE(of_many.reason.starts_with("8 steps")) << of_many.reason;
}

TEST(Checklist, RecordedLinesSayWhereTheProgramCalls) {
  TraceBuilder without = steps(3);
  TraceBuilder with = steps(3);
  with.line("/home/me/train.py:7 main", 0, 30'000);
  EXPECT_EQ(item(checklist_of(without), "stacks_recorded").status, ChecklistStatus::not_met);
  const ChecklistItem lines = item(checklist_of(with), "stacks_recorded");
  EXPECT_EQ(lines.status, ChecklistStatus::met) << lines.reason;
  EXPECT_NE(lines.reason.find("line of each moment"), std::string::npos) << lines.reason;
}

TEST(Checklist, AMeanThatIsHardlyKnownIsNotLongEnough) {
  TraceBuilder trace;
  std::int64_t at = 0;
  for (const std::int64_t length : {10'000, 40'000, 12'000, 90'000}) {
    trace.step(at, at, length);
    trace.op("aten::mm", at, length - 100);
    at += length;
  }
  const ChecklistItem uneven = item(checklist_of(trace), "long_enough");
  EXPECT_EQ(uneven.status, ChecklistStatus::not_met) << uneven.reason;
  EXPECT_NE(uneven.reason.find("known only to"), std::string::npos) << uneven.reason;
}

ChecklistItem overhead_of(std::string_view ratio, std::string_view interval) {
  TraceBuilder builder = steps(8);
  builder.fact("overhead.ratio", ratio);
  builder.fact("overhead.ratio_interval", interval);
  builder.fact("overhead.unprofiled_steps", "8");
  builder.fact("overhead.profiled_steps", "5");
  Trace trace = builder.build();
  ProcessRun run;
  run.pid = 100;
  trace.process_runs.push_back(run);
  const Session session(std::move(trace), "run");
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  return item(diagnosis->checklist, "little_overhead");
}

TEST(Checklist, LittleOverheadIsMetWhereItIsKnown) {
  EXPECT_EQ(overhead_of("1.02", "[0.98,1.05]").status, ChecklistStatus::met);
  EXPECT_EQ(overhead_of("1.5", "[1.4,1.6]").status, ChecklistStatus::not_met);
  const ChecklistItem unknown = overhead_of("0.538", "[0.2,5.1]");
  EXPECT_EQ(unknown.status, ChecklistStatus::not_met);
  EXPECT_TRUE(unknown.reason.starts_with("not known: ")) << unknown.reason;
}

TEST(Checklist, GivesEachItemAReason) {
  TraceBuilder trace = steps(4);
  const std::vector<ChecklistItem> items = checklist_of(trace);
  EXPECT_GE(items.size(), 10U);
  for (const ChecklistItem& each : items) EXPECT_FALSE(each.reason.empty()) << each.id;
}

TEST(Checklist, SaysWhatATraceAloneCannotHold) {
  TraceBuilder trace = steps(4);
  const std::vector<ChecklistItem> items = checklist_of(trace);
  for (const std::string_view id : {"steady_machine", "conditions", "baseline_saved"})
    EXPECT_EQ(item(items, id).status, ChecklistStatus::not_recordable) << id;
}

TEST(Checklist, MissesMemoryAndShapesThatWereNotRecorded) {
  TraceBuilder trace = steps(4);
  trace.op("aten::add", 100, 10).shapes("[[2,2]]");
  trace.memory(100, 64);
  const std::vector<ChecklistItem> with = checklist_of(trace);
  TraceBuilder plain = steps(4);
  const std::vector<ChecklistItem> without = checklist_of(plain);
  for (const std::string_view id : {"shapes_recorded", "memory_recorded"}) {
    EXPECT_EQ(item(with, id).status, ChecklistStatus::met) << id;
    EXPECT_EQ(item(without, id).status, ChecklistStatus::not_met) << id;
  }
}

TEST(Checklist, SeesWarmUpAtTheBegin) {
  TraceBuilder trace;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::int64_t length = i == 0 ? 100'000 : 10'000;
    trace.step(i, at, length);
    trace.op("aten::mm", at, length - 100);
    at += length;
  }
  const ChecklistItem warm = item(checklist_of(trace), "warmed_up");
  EXPECT_EQ(warm.status, ChecklistStatus::not_met) << warm.reason;
  TraceBuilder even = steps(5);
  EXPECT_EQ(item(checklist_of(even), "warmed_up").status, ChecklistStatus::met);
}

TEST(Checklist, MissesWorkThatWasStillRunningAtTheEnd) {
  TraceBuilder trace;
  for (std::int64_t i = 0; i < 4; ++i) {
    trace.step(i, 10'000 * i, 10'000);
    for (std::int64_t k = 0; k < 5; ++k) {
      const std::int64_t at = 10'000 * i + 1000 * k;
      trace.op("aten::mm", at, 900);
      trace.runtime("cudaLaunchKernel", at + 100, 10, 10 * i + k + 1);
      if (i < 2) trace.kernel("gemm", at + 200, 700, 10 * i + k + 1);
    }
  }
  const ChecklistItem ended = item(checklist_of(trace), "synchronised");
  EXPECT_EQ(ended.status, ChecklistStatus::not_met) << ended.reason;
}

}  // namespace
}  // namespace fathom
