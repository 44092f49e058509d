#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/batch_times.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule small_batch();

namespace {

Device device_of_ten() {
  Device device;
  device.sms = 10;
  return device;
}

/// Steps of 10 µs: four products of 500 ns, each launched 2 µs after the other; of so many blocks.
void products(TraceBuilder& builder, std::int32_t blocks, std::int64_t length = 500,
              std::int64_t steps = 1) {
  builder.device(device_of_ten());
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t at = 10'000 * step;
    builder.step(step, at, 10'000);
    for (std::int64_t i = 0; i < 4; ++i)
      add_launch(builder, "aten::mm", at + 100 + 2400 * i, "ampere_sgemm_128x64_tn", 1,
                 100 * step + 10 + i);
    for (std::int64_t i = 0; i < 4; ++i) {
      builder.runtime("cudaLaunchKernel", at + 125 + 2400 * i, 5, 100 * step + i + 1);
      builder.kernel("ampere_sgemm_128x64_tn", at + 140 + 2400 * i, length, 100 * step + i + 1)
          .grid(blocks, 1, 1)
          .block(128, 1, 1);
    }
  }
}

TEST(SmallBatch, HasEndsThatAreFurtherOutWhereOneStepWasRecorded) {
  TraceBuilder builder;
  products(builder, 5);
  const auto findings = JudgedTrace(builder).findings(small_batch());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("1.5 to 2.2 times"), std::string::npos) << findings[0].title;
}

TEST(SmallBatch, IsOneWhoseStepWouldHardlyGrow) {
  TraceBuilder builder;
  products(builder, 5, 500, 2);
  const auto findings = JudgedTrace(builder).findings(small_batch());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 5U);
  EXPECT_EQ(findings[0].evidence[4].text,
            "shapes were not recorded: whether loops in Python grow with the batch is not known");
  EXPECT_NE(findings[0].title.find("1.7 to 2.0 times"), std::string::npos) << findings[0].title;
  EXPECT_EQ(findings[0].weight, Weight::warning);
  // More samples per second, but no shorter step.
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(SmallBatch, IsNothingWhereKernelsFillStepAndDevice) {
  TraceBuilder builder;
  products(builder, 100, 2390);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_batch()).empty());
}

TEST(SmallBatch, IsOfLowConfidenceWhereOnlyAStepInTheMiddleGainsEnough) {
  TraceBuilder builder;
  products(builder, 5, 1800, 2);
  const auto findings = JudgedTrace(builder).findings(small_batch());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
  EXPECT_NE(findings[0].title.find("may cost little"), std::string::npos) << findings[0].title;
  TraceBuilder fuller;
  products(fuller, 5, 2390, 2);
  EXPECT_TRUE(JudgedTrace(fuller).findings(small_batch()).empty());
}

TEST(SmallBatch, IsNothingWithoutProducts) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000);
  add_launch(builder, "aten::add", 100, "add", 500, 1);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_batch()).empty());
}

TEST(SmallBatch, IsNothingWhereTheStepWaitsForItsInput) {
  TraceBuilder builder;
  products(builder, 5);
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 700, 1700);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_batch()).empty());
}

TEST(SmallBatch, IsNothingWhereTheDriverIsAskedForMemoryAllTheTime) {
  TraceBuilder builder;
  products(builder, 5);
  builder.runtime("cudaFree", 700, 1500, 30);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_batch()).empty());
}

TEST(SmallBatch, OfTheProcessorKeepsWhatCallingOperatorsCosts) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 4; ++i) builder.op("aten::mm", 1000 + 24'000 * i, 15'000);
  const JudgedTrace judged(builder);
  const BatchTimes times(judged.rules());
  EXPECT_EQ(to_ns(times.full()), 52'000);
  EXPECT_EQ(to_ns(times.with(4).low), 100'000);
  EXPECT_EQ(to_ns(times.with(4).high), 256'000);
  EXPECT_EQ(judged.findings(small_batch()).size(), 1U);
  TraceBuilder longer;
  longer.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 4; ++i) longer.op("aten::mm", 1000 + 24'000 * i, 23'500);
  EXPECT_TRUE(JudgedTrace(longer).findings(small_batch()).empty());
}

/// A step of 100 µs on a processor: four products, and a loop over the rows of a tensor of so many,
/// 2 µs each.
JudgedTrace loop_over(std::int64_t rounds, std::string_view shape, std::string_view values) {
  TraceBuilder builder;
  const bool shapes = !shape.empty();
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 4; ++i) {
    const SliceId product = builder.op("aten::linear", 1000 + 4000 * i, 3000);
    if (shapes)
      TraceBuilder::Event(builder, product)
          .shapes("[[32,10],[10,10],[]]")
          .types(R"(["float","float",""])");
  }
  for (std::int64_t i = 0; i < rounds; ++i) {
    const SliceId row = builder.op("aten::select", 20'000 + 2000 * i, 800);
    if (shapes)
      TraceBuilder::Event(builder, row)
          .shapes(shape)
          .types(R"(["float","Scalar","Scalar"])")
          .concrete(values);
    builder.op("aten::item", 20'900 + 2000 * i, 800);
  }
  return JudgedTrace(builder);
}

TEST(SmallBatch, AbstainsWhereALoopHasARoundForEachSample) {
  const std::string reason =
      loop_over(32, "[[32,10],[],[]]", R"(["","0","1"])").abstains(small_batch());
  EXPECT_NE(reason.find("they have a round for each sample"), std::string::npos) << reason;
  // Of another dimension: the loop stays as it is.
  EXPECT_EQ(loop_over(32, "[[10,32],[],[]]", R"(["","1","1"])").abstains(small_batch()), "");
}

TEST(SmallBatch, CountsTheWholeOfALoopOverSamples) {
  const JudgedTrace judged = loop_over(32, "[[32,10],[],[]]", R"(["","0","1"])");
  const BatchTimes times(judged.rules());
  EXPECT_EQ(to_ns(times.looped()), 31 * 2000 + 1700);
  EXPECT_EQ(to_ns(times.with(2).low), 100'000 + 31 * 2000 + 1700);
}

TEST(SmallBatch, WithoutShapesIsNothingThatShapesWouldSpeakAgainst) {
  const std::string reason = loop_over(32, "", "").abstains(small_batch());
  EXPECT_NE(reason.find("without shapes it is not known"), std::string::npos) << reason;
  const auto few = loop_over(10, "", "").findings(small_batch());
  ASSERT_EQ(few.size(), 1U);
  EXPECT_NE(few[0].evidence.back().text.find("blocks of operators that repeat take"),
            std::string::npos)
      << few[0].evidence.back().text;
}

TEST(SmallBatch, TakesTheLayersOfAModelForNoLoop) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 20; ++i) {
    builder.op("aten::linear", 1000 + 4500 * i, 2500);
    builder.op("aten::relu", 4000 + 4500 * i, 1000);
  }
  const JudgedTrace judged(builder);
  EXPECT_EQ(to_ns(BatchTimes(judged.rules()).looped()), 0);
}

TEST(SmallBatch, AbstainsWhereNoOperatorWasRecorded) {
  TraceBuilder builder;
  builder.runtime("cudaMalloc", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(small_batch()), "");
}

TEST(SmallBatch, TakesCollectivesForFixedOnlyWhereGradientsAreSent) {
  const auto most_with = [](bool training) {
    TraceBuilder builder;
    products(builder, 5);
    if (training) builder.op("autograd::engine::evaluate_function: MmBackward0", 9950, 10);
    builder.on_stream(20).kernel("ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", 3000, 1000);
    const JudgedTrace judged(builder);
    return to_ns(BatchTimes(judged.rules()).with(2).high);
  };
  EXPECT_GE(most_with(false) - most_with(true), 400) << "results that are sent grow, too";
}

}  // namespace
}  // namespace fathom
