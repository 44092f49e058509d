// Rows of the roofline, and how they are judged.
#include "analysis/roofline/roofline.h"

#include <gtest/gtest.h>

#include "analysis/context.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .tf32_matrix = 10e12,
                             .bandwidth = 1e9,
                             .l2 = 1000,
                             .l2_bandwidth = 10e9,
                             .pcie_bandwidth = 0.1e9};

/// A trace with a roofline over it, by kDevice's peaks.
class Roofed {
 public:
  explicit Roofed(TraceBuilder& builder) : trace_(builder.build()), analyses_(trace_) {
    options.peaks = &kDevice;
  }
  [[nodiscard]] Roofline roofline() const {
    return compute_roofline({trace_, analyses_, selection, options});
  }
  Selection selection;
  TableOptions options;

 private:
  Trace trace_;
  Analyses analyses_;
};

/// An operator that launches one kernel.
SliceId launch(TraceBuilder& builder, std::string_view op, std::string_view shapes,
               std::string_view types, std::string_view kernel, std::int64_t at,
               std::int64_t duration, std::int64_t correlation) {
  const SliceId id = builder.op(op, at, 10).shapes(shapes).types(types);
  builder.runtime("cudaLaunchKernel", at + 1, 2, correlation);
  builder.on_stream(7).kernel(kernel, at + 100, duration, correlation);
  builder.on_thread(1);
  return id;
}

constexpr std::string_view kTwoFloats = R"(["float","float"])";

TEST(Roofline, callsOfOneShapeAreOneRowThatIsJudgedByTheLowerRoof) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats, "sgemm", 0, 200'000, 1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats, "sgemm", 300'000, 100'000, 2);
  const Roofline roofline = Roofed(builder).roofline();
  ASSERT_EQ(roofline.rows.size(), 1U);
  const RooflineRow& row = roofline.rows[0];
  EXPECT_EQ(row.calls, 2U);
  EXPECT_EQ(row.device_time, duration_ns(300'000));
  EXPECT_FALSE(row.in_l2);
  // 120,000 bytes at 1 GB/s take longer than 2,000,000 operations at 1 TFLOP/s.
  EXPECT_EQ(row.speed_of_light, duration_ns(2 * 120'000));
  EXPECT_EQ(row.headroom, duration_ns(60'000));
  EXPECT_DOUBLE_EQ(row.roof_percent, 80);
  EXPECT_EQ(row.bound, Bound::bandwidth);
  EXPECT_DOUBLE_EQ(row.intensity(), 2e6 / 120e3);
  EXPECT_DOUBLE_EQ(row.flops_per_s(), 2 * 2e6 / 300e-6);
}

TEST(Roofline, farFromBothRoofsIsLatency) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats, "sgemm", 0, 1'000'000, 1);
  EXPECT_EQ(Roofed(builder).roofline().rows[0].bound, Bound::latency);
}

TEST(Roofline, whatFitsInTheCacheIsJudgedByTheCache) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::add", "[[50],[50]]", kTwoFloats, "add", 0, 100, 1);
  const RooflineRow row = Roofed(builder).roofline().rows[0];
  EXPECT_TRUE(row.in_l2);
  EXPECT_EQ(row.speed_of_light, duration_ns(60));  // 600 bytes at 10 GB/s
}

TEST(Roofline, theKernelTellsThatSinglePrecisionRanAsTf32) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats,
         "ampere_sgemm_tf32tf32_128x64_tn_tensorop", 0, 200'000, 1);
  launch(builder, "aten::mm", "[[101,100],[100,100]]", kTwoFloats, "ampere_sgemm_128x64_tn",
         300'000, 200'000, 2);
  const Roofline roofline = Roofed(builder).roofline();
  EXPECT_EQ(roofline.rows[0].cost->type, NumberType::tf32);
  EXPECT_EQ(roofline.rows[1].cost->type, NumberType::fp32);
}

TEST(Roofline, kernelsCountForTheInnermostOperatorWithAFormula) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("aten::linear", 0, 100).shapes("[[2,3],[5,3]]").types(kTwoFloats);
  builder.op("aten::mm", 5, 80).shapes("[[2,3],[3,5]]").types(kTwoFloats);
  builder.op("my::inner", 10, 50);
  builder.runtime("cudaLaunchKernel", 20, 2, 1);
  const SliceId kernel = builder.on_stream(7).kernel("gemm", 200, 100, 1);
  const Roofline roofline = Roofed(builder).roofline();
  ASSERT_EQ(roofline.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(roofline.rows[0].cost->flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(roofline.row_of(kernel), &roofline.rows[0]);
}

TEST(Roofline, aConvolutionIncludesAllThatRunsInsideIt) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("aten::convolution", 0, 100)
      .shapes("[[1,1,4,4],[1,1,1,1],[1],[],[],[],[],[],[]]")
      .types(
          R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])")
      .concrete(R"(["","","","[1]","[0]","[1]","False","[0]","1"])");
  builder.op("aten::cudnn_convolution", 10, 30);
  builder.runtime("cudaLaunchKernel", 20, 2, 1);
  builder.op("aten::add_", 50, 30).shapes("[[1,1,4,4],[1,1,1,1]]").types(kTwoFloats);
  builder.runtime("cudaLaunchKernel", 60, 2, 2);
  builder.on_stream(7);
  builder.kernel("conv", 200, 100, 1);
  builder.kernel("add", 300, 40, 2);
  const Roofline roofline = Roofed(builder).roofline();
  ASSERT_EQ(roofline.rows.size(), 1U);
  EXPECT_EQ(roofline.rows[0].device_time, duration_ns(140));
  EXPECT_EQ(roofline.rows[0].calls, 1U);
  EXPECT_EQ(roofline.rows[0].activities, 2U);
}

TEST(Roofline, copiesBetweenHostAndDeviceAreJudgedByTheLink) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("aten::copy_", 0, 10)
      .shapes("[[1000],[1000],[]]")
      .types(R"(["float","float","Scalar"])");
  builder.runtime("cudaMemcpyAsync", 1, 2, 1);
  builder.on_stream(7).copy(CopyKind::h2d, 100, 100'000, 1, 4000);
  const RooflineRow row = Roofed(builder).roofline().rows[0];
  EXPECT_TRUE(row.over_link);
  EXPECT_DOUBLE_EQ(row.cost->bytes, 8000) << "read and written";
  EXPECT_EQ(row.speed_of_light, duration_ns(40'000));  // at 0.1 GB/s
}

TEST(Roofline, everyActivityIsInOneRowOrInNone) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats, "sgemm", 0, 70, 1);
  launch(builder, "my::op", "[[4]]", R"(["float"])", "mine", 1000, 20, 2);
  builder.runtime("cudaLaunchKernel", 2000, 2, 3);
  builder.on_stream(7).kernel("lonely", 2100, 5, 3);
  builder.on_stream(7).kernel("orphan", 2200, 3);
  const Roofline roofline = Roofed(builder).roofline();
  ASSERT_EQ(roofline.rows.size(), 2U);
  EXPECT_EQ(roofline.rows[0].device_time + roofline.rows[1].device_time, duration_ns(90));
  EXPECT_FALSE(roofline.rows[1].cost);
  EXPECT_EQ(roofline.rows[1].bound, Bound::unknown);
  EXPECT_EQ(roofline.without_operator, duration_ns(8));
}

TEST(Roofline, withoutAKnownDeviceNothingIsJudged) {
  TraceBuilder builder;
  builder.on_thread(1);
  launch(builder, "aten::mm", "[[100,100],[100,100]]", kTwoFloats, "sgemm", 0, 70, 1);
  builder.device({.id = 0, .name = "Voodoo 2"});
  Roofed roofed(builder);
  roofed.options.peaks = nullptr;
  const Roofline roofline = roofed.roofline();
  EXPECT_EQ(roofline.device, nullptr);
  EXPECT_NE(roofline.note.find("Voodoo 2"), std::string::npos);
  EXPECT_EQ(roofline.rows[0].bound, Bound::unknown);
  EXPECT_TRUE(roofline.rows[0].cost);
}

}  // namespace
}  // namespace fathom
