#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule data_loader_workers();

namespace {

constexpr std::string_view kSingle = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kWorkers =
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/// A step of 1000 ns that begins with a fetch and runs a kernel for the rest.
void step(TraceBuilder& builder, std::int64_t at, std::string_view iterator, std::int64_t fetch) {
  builder.step(at / 1000, at, 1000);
  builder.annotation(iterator, at + 1, fetch);
  builder.op("aten::mm", at + fetch + 5, 20);
  builder.runtime("cudaLaunchKernel", at + fetch + 10, 5, at + 1);
  builder.kernel("gemm", at + fetch + 16, 984 - fetch, at + 1);
}

TEST(DataLoaderWorkers, AreMissedWhereBatchesAreMadeInTheTrainingProcess) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 400);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "none");
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 3 * 400, 30)
      << "a quarter of the fetching fits beside the rest of the step";
  EXPECT_EQ(findings[0].edits.overlap.size(), 3U);
}

TEST(DataLoaderWorkers, AreAnArgumentOfThePipelineThatMakesTheLoader) {
  TraceBuilder builder;
  builder.frame("transformers/pipelines/pt_utils.py(117): __next__", 0, 390);
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 400);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.after, "for out in pipe(dataset, num_workers=4):");
}

TEST(DataLoaderWorkers, AreTooFewWhereEachBatchIsWaitedFor) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kWorkers, 400);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "too-few");
}

TEST(DataLoaderWorkers, AreEnoughWhereOnlyTheFirstBatchIsWaitedFor) {
  TraceBuilder builder;
  step(builder, 0, kWorkers, 600);
  step(builder, 1000, kWorkers, 10);
  step(builder, 2000, kWorkers, 10);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(data_loader_workers()).empty());
  EXPECT_EQ(judged.abstains(data_loader_workers()), "");
}

TEST(DataLoaderWorkers, AreNotMissedWhereFetchingTakesNoTime) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 5);
  EXPECT_TRUE(JudgedTrace(builder).findings(data_loader_workers()).empty());
}

TEST(DataLoaderWorkers, AbstainWithoutADataLoader) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(data_loader_workers()), "");
}

TEST(DataLoaderWorkers, LeaveWhatFourOfThemCannotFetchBesideTheRest) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) step(builder, 1000 * i, kSingle, 900);
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  // A quarter of 900 is 225: the rest of the step hides about 100 of it.
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 3 * (900 - 125), 60);
}

TEST(DataLoaderWorkers, AlsoGiveBackTheLaunchingThatWaitsForTheLoader) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t at = 1000 * i;
    builder.step(i, at, 1000);
    builder.annotation(kSingle, at + 1, 400);  // the device is busy for half of it
    builder.op("aten::mm", at + 410, 200);
    builder.runtime("cudaLaunchKernel", at + 600, 5, at + 1);
    builder.kernel("gemm", at + 606, 594, at + 1);
  }
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(to_ns(total(findings[0].claims)), 3 * 380) << "fetching, and launching behind it";
}

TEST(DataLoaderWorkers, CountAFetchThatBeganBeforeTheFirstStep) {
  TraceBuilder builder;
  builder.on_thread(2).annotation(kSingle, 0, 500);
  for (std::int64_t i = 0; i < 2; ++i) {
    builder.on_thread(1).step(i, 100 + 1000 * i, 1000);
    builder.on_thread(2).op("aten::mm", 600 + 1000 * i, 20);
    builder.runtime("cudaLaunchKernel", 605 + 1000 * i, 5, i + 1);
    builder.kernel("gemm", 620 + 1000 * i, 480, i + 1);
  }
  const auto findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("200 ns"), std::string::npos) << findings[0].title;
}

/// Fetches on the processor alone, on a machine of so many processors, beside so many workers.
std::vector<Finding> on_machine(std::string_view iterator, double processors, int workers) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(iterator, 1, 100);
  builder.op("aten::mm", 110, 890);
  builder.step(1, 1000, 1000);
  builder.annotation(iterator, 1001, 600);
  builder.op("aten::mm", 1610, 390);
  builder.on_thread(0, 0);
  builder.sample("cpu.count", 0, processors).sample("cpu.count", 2000, processors);
  Trace trace = builder.build();
  const StringId role = trace.strings.intern("loader-worker");
  for (int i = 0; i < workers; ++i) {
    trace.process_runs.emplace_back();
    trace.process_runs.back().role = role;
  }
  return JudgedTrace(std::move(trace)).findings(data_loader_workers());
}

TEST(DataLoaderWorkers, AreNoMoreThanTheProcessors) {
  const auto few = on_machine(kSingle, 2, 0);
  ASSERT_EQ(few.size(), 1U);
  EXPECT_NE(few[0].fix.after.find("num_workers=2"), std::string::npos);
  EXPECT_NE(on_machine(kSingle, 16, 0).at(0).fix.after.find("num_workers=4"), std::string::npos);
  EXPECT_NE(on_machine(kWorkers, 16, 4).at(0).fix.after.find("num_workers=8"), std::string::npos);
  EXPECT_TRUE(on_machine(kWorkers, 2, 4).empty()) << "more of them do not load faster";
}

/// Two steps with slow fetches on a machine of eight processors. Two ranks have two workers each,
/// anew in each of ten epochs; an end is seen late.
std::vector<Finding> over_epochs(std::string_view given) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kWorkers, 1, 400);
  builder.op("aten::mm", 410, 590);
  builder.step(1, 1000, 1000);
  builder.annotation(kWorkers, 1001, 600);
  builder.op("aten::mm", 1610, 390);
  builder.on_thread(0, 0);
  builder.sample("cpu.count", 0, 8).sample("cpu.count", 2000, 8);
  if (!given.empty()) builder.fact("loader.num_workers", given);
  Trace trace = builder.build();
  const StringId role = trace.strings.intern("loader-worker");
  for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
    for (std::int64_t i = 0; i < 4; ++i) {
      ProcessRun run;
      run.pid = 100 + 4 * epoch + i;
      run.parent = i < 2 ? 10 : 11;
      run.role = role;
      run.start_ns = 200 * epoch;
      run.end_ns = 200 * epoch + 240;
      trace.process_runs.push_back(run);
    }
  }
  return JudgedTrace(std::move(trace)).findings(data_loader_workers());
}

TEST(DataLoaderWorkers, AreCountedBesideEachOtherWhereEachEpochHasNewOnes) {
  const auto found = over_epochs("");
  ASSERT_EQ(found.size(), 1U) << "four are fewer than the processors";
  EXPECT_EQ(found[0].fix.before, "DataLoader(dataset, num_workers=2)");
  EXPECT_NE(found[0].fix.after.find("num_workers=4,"), std::string::npos) << found[0].fix.after;
}

TEST(DataLoaderWorkers, AreAsManyAsTheProgramGaveItsLoader) {
  const auto found = over_epochs("3");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fix.before, "DataLoader(dataset, num_workers=3)");
  for (const std::string_view damaged : {"2147483647", "99999999999999999999", "-1", "many"}) {
    const auto counted = over_epochs(damaged);
    ASSERT_EQ(counted.size(), 1U) << damaged;
    EXPECT_EQ(counted[0].fix.before, "DataLoader(dataset, num_workers=2)") << damaged;
  }
}

/// What the fix shows of a loader, in steps of `fetches` batches and 48 pictures.
Fix of_batches(int fetches, std::string_view given) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t at = 1000 * i;
    builder.step(i, at, 1000);
    for (std::int64_t k = 0; k < fetches; ++k) builder.annotation(kSingle, at + 1 + 100 * k, 90);
    builder.op("aten::conv2d", at + 500, 400)
        .shapes("[[48,3,8,8],[4,3,3,3]]")
        .types(R"(["float","float"])");
  }
  if (!given.empty()) builder.fact("loader.batch_size", given);
  return JudgedTrace(builder).findings(data_loader_workers()).at(0).fix;
}

TEST(DataLoaderWorkers, NameTheBatchThatTheProgramHas) {
  EXPECT_EQ(of_batches(1, "").before, "DataLoader(dataset, batch_size=48)");
  EXPECT_NE(of_batches(1, "").after.find("batch_size=48, num_workers="), std::string::npos);
  EXPECT_EQ(of_batches(2, "").before, "DataLoader(dataset, batch_size=24)");
  EXPECT_EQ(of_batches(1, "\"12\"").before, "DataLoader(dataset, batch_size=12)");
  // Nobody knows it.
  EXPECT_EQ(of_batches(5, "").before, "DataLoader(dataset, batch_size=batch_size)");
  EXPECT_EQ(of_batches(5, "-3").before, "DataLoader(dataset, batch_size=batch_size)");
}

TEST(DataLoaderWorkers, NameNoBatchOfSeveralFetchesWithoutSteps) {
  TraceBuilder builder;
  for (const std::int64_t at : {0, 200}) {
    builder.annotation(kSingle, at, 190);
    builder.op("aten::stack", at + 100, 20);
  }
  builder.op("aten::conv2d", 500, 400)
      .shapes("[[48,3,8,8],[4,3,3,3]]")
      .types(R"(["float","float"])");
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loader_workers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.before, "DataLoader(dataset, batch_size=batch_size)");
}

TEST(DataLoaderWorkers, PinNoMemoryWithoutADevice) {
  EXPECT_EQ(on_machine(kSingle, 16, 0).at(0).fix.after.find("pin_memory"), std::string::npos);
}

/// A step of 1 ms, of which fetching takes 640 us: 64 samples, each by `op`.
std::vector<Finding> in_memory(std::string_view op, bool other_work) {
  TraceBuilder builder;
  builder.step(0, 0, 1'000'000);
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 660'000);
  for (std::int64_t i = 0; i < 64; ++i) builder.op(op, 10'000 * i + 100, 3'000);
  builder.op(other_work ? "aten::mul" : "aten::stack", 645'000, 10'000);
  builder.op("aten::mm", 700'000, 200'000);
  return JudgedTrace(builder).findings(data_loader_workers());
}

TEST(DataLoaderWorkers, AreNotTheCureForRowsOfTensors) {
  const std::vector<Finding> findings = in_memory("aten::select", false);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "rows");
  EXPECT_NE(findings[0].evidence[0].text.find("64 aten::select each"), std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_NE(findings[0].fix.after.find("batch_size=None"), std::string::npos);
  for (const Finding& other :
       {in_memory("aten::select", true).at(0), in_memory("aten::sin", false).at(0)})
    EXPECT_EQ(other.key, "none");
}

}  // namespace
}  // namespace fathom
