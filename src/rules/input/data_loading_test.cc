#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule data_loading();

namespace {

constexpr std::string_view kSingle = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kWorkers =
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/// Three steps of 1000 ns, each with a fetch of `fetch` ns and a kernel for the rest.
void steps(TraceBuilder& builder, std::string_view iterator, std::int64_t fetch) {
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t at = 1000 * i;
    builder.step(i, at, 1000);
    builder.annotation(iterator, at + 1, fetch);
    builder.op("aten::mm", at + fetch + 5, 20);
    builder.runtime("cudaLaunchKernel", at + fetch + 10, 5, 100 + i);
    builder.kernel("gemm", at + fetch + 16, 984 - fetch, 100 + i);
  }
}

TEST(DataLoading, IsToldWhenTheDeviceWaitsForTheFetch) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "single-process");
  EXPECT_EQ(findings[0].family, Family::input);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_NEAR(judged.rules().percent(total(findings[0].claims)), 40, 1);
  EXPECT_EQ(findings[0].edits.overlap.size(), 3U);
}

TEST(DataLoading, TellsWorkersThatDoNotKeepUpFromNone) {
  TraceBuilder builder;
  steps(builder, kWorkers, 400);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "workers");
  EXPECT_TRUE(findings[0].edits.overlap.empty());
}

TEST(DataLoading, SaysNothingOfWorkersByFramesOfTheThreadThatWaitsForThem) {
  TraceBuilder builder;
  steps(builder, kWorkers, 400);
  for (std::int64_t i = 0; i < 3; ++i)
    builder.frame("torch/utils/data/dataloader.py(1262): _try_get_data", 1000 * i + 2, 390);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  const std::string& text = findings[0].evidence[0].text;
  EXPECT_EQ(text.find("processor is the limit"), std::string::npos) << text;
  EXPECT_NE(text.find("what the workers do is not recorded"), std::string::npos) << text;
}

TEST(DataLoading, IsNothingWhenTheFetchIsShort) {
  TraceBuilder builder;
  steps(builder, kSingle, 30);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(data_loading()).empty());
  EXPECT_EQ(judged.abstains(data_loading()), "");
}

TEST(DataLoading, IsNothingWhenTheDeviceWorksMeanwhile) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 1, 20);
  builder.runtime("cudaLaunchKernel", 5, 5, 1);
  builder.kernel("gemm", 11, 989, 1);
  builder.annotation(kSingle, 100, 800);
  EXPECT_TRUE(JudgedTrace(builder).findings(data_loading()).empty());
}

TEST(DataLoading, CountsTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kSingle, 0, 600);
  builder.op("aten::stack", 100, 200);
  builder.op("aten::mm", 600, 400);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 600);
}

TEST(DataLoading, SaysWhetherReadingIsTheLimitWhereFramesTell) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  builder.frame("<built-in method read of _io.BufferedReader object at 0x7f>", 20, 350);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("storage is the limit"), std::string::npos);
}

TEST(DataLoading, NamesTheFunctionAndTheTransformThatDominateWithTheirTimes) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  for (std::int64_t at : {1, 1001, 2001}) {
    builder.frame("torch/utils/data/_utils/fetch.py(49): fetch", at, 398);
    builder.frame("train.py(60): __getitem__", at + 1, 360);
    builder.frame("torchvision/transforms/transforms.py(95): __call__", at + 2, 340);
    builder.frame("nn.Module: Resize_0", at + 3, 240);
    builder.frame("nn.Module: ToTensor_0", at + 250, 60);
    builder.frame("torch/utils/data/_utils/collate.py(118): collate", at + 370, 20);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_EQ(findings[0].evidence[1].text,
            "__getitem__ (train.py:60) takes 360 ns per step (90.0 % of the fetching), nn.Module: "
            "Resize_0 in it 240 ns per step (60.0 % of the fetching)");
  EXPECT_EQ(findings[0].evidence[1].location, "train.py:60");
}

TEST(DataLoading, NamesTheAnnotationThatDominatesWhereNoFramesWereRecorded) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  for (std::int64_t at : {1, 1001, 2001}) {
    builder.annotation("decode", at + 10, 100);
    builder.annotation("augment", at + 120, 250);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_EQ(findings[0].evidence[1].text.substr(0, 38), "augment takes 250 ns per step (62.5 % ")
      << findings[0].evidence[1].text;
}

TEST(DataLoading, SaysThatWhatTakesTheFetchingIsNotRecorded) {
  TraceBuilder builder;
  steps(builder, kSingle, 400);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(data_loading());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("which function or transform takes it"),
            std::string::npos)
      << findings[0].evidence[0].text;
  TraceBuilder with_workers;
  steps(with_workers, kWorkers, 400);
  EXPECT_NE(JudgedTrace(with_workers)
                .findings(data_loading())[0]
                .evidence[0]
                .text.find("what the workers do is not recorded"),
            std::string::npos);
}

TEST(DataLoading, AbstainsWithoutAnyFetch) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(data_loading()), "");
}

TEST(DataLoading, DoesNotTakeTheFirstFetchOfWorkersForUsual) {
  const auto found = [](std::int64_t fetches) {
    TraceBuilder builder;
    builder.step(0, 0, 1000 * fetches);
    for (std::int64_t i = 0; i < fetches; ++i) {
      builder.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                         1000 * i + 10, 600);
      builder.op("aten::mm", 1000 * i + 700, 200);
    }
    return JudgedTrace(builder).findings(data_loading());
  };
  const auto once = found(1);
  ASSERT_EQ(once.size(), 1U);
  EXPECT_EQ(once[0].confidence, Confidence::medium);
  EXPECT_NE(once[0].title.find("only batch"), std::string::npos) << once[0].title;
  ASSERT_EQ(found(3).size(), 1U);
  EXPECT_EQ(found(3)[0].confidence, Confidence::high);
}

/// A step of 1 ms: a batch of the old iterator is used, its last fetch finds nothing more, a seed
/// is drawn, and the first fetch of the new one waits; `seed` is what is called between the two.
std::vector<Finding> epoch_ends(std::string_view seed) {
  TraceBuilder builder;
  builder.step(0, 0, 1'000'000);
  builder.annotation(kWorkers, 1'000, 20'000);
  builder.op("aten::mm", 30'000, 100'000);
  builder.annotation(kWorkers, 150'000, 250'000);
  builder.op("aten::empty", 401'000, 1'000);
  builder.op(seed, 403'000, 1'000);
  builder.annotation(kWorkers, 450'000, 300'000);
  builder.op("aten::mm", 760'000, 100'000);
  return JudgedTrace(builder).findings(data_loading());
}

TEST(DataLoading, TellsWorkersThatEndAndStartFromSlowSamples) {
  const std::vector<Finding> findings = epoch_ends("aten::random_");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title,
            "A loader's workers end and start anew: 550.0 µs (55.0 % of the step)");
  EXPECT_NE(findings[0].fix.after.find("persistent_workers=True"), std::string::npos);
  const std::vector<Finding> others = epoch_ends("aten::mm");
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].title.find("Samples are slow"), 0U) << others[0].title;
}

}  // namespace
}  // namespace fathom
