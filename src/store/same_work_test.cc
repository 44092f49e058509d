// Two recorders of one program: nothing is counted twice, and nothing is lost.
#include "store/same_work.h"

#include <string>

#include <gtest/gtest.h>

#include "store/merge.h"
#include "store/trace_builder.h"
#include "store/validate.h"

namespace fathom {
namespace {

constexpr std::int64_t kOrigin = 1'750'000'000'000'000'000;

/// `count` launches and their kernels, 30 us apart, recorded by a clock that is `offset` ahead,
/// with correlation ids from `first_id`, of the rounds from `from`.
Trace recording(std::int64_t offset, std::int64_t first_id, int from, int count,
                std::string_view format, std::int64_t pid = 100) {
  TraceBuilder builder;
  builder.on_thread(pid, pid);
  if (format == "chrome-json") builder.op("aten::mm", 0, 100'000'000);
  for (int i = from; i < from + count; ++i) {
    const std::int64_t start = 1'000'000 + std::int64_t{30'000} * i;
    builder.runtime("cudaLaunchKernel", start + offset, 5'000, first_id + i);
    builder.kernel("gemm", start + 10'000 + offset, 12'000, first_id + i).grid(8, 1, 1);
  }
  Trace trace = builder.build();
  trace.format = format;
  trace.origin_ns = kOrigin;
  trace.origin_is_unix = true;
  return trace;
}

std::uint64_t kernels(const Trace& trace) {
  std::uint64_t found = 0;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    found += trace.kind(SliceId(row)) == SliceKind::kernel ? 1 : 0;
  return found;
}

MergeCounts merge(Trace& base, const Trace& other) {
  MergeCounts counts = merge_into(base, other, {.clock_error_ns = 10'000});
  EXPECT_EQ(broken_promise(base), "");
  return counts;
}

TEST(SameWork, AKernelThatBothSawIsCountedOnce) {
  Trace base = recording(0, 1, 0, 100, "chrome-json");
  const MergeCounts counts = merge(base, recording(4'000, 1, 0, 100, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  EXPECT_EQ(counts.activities_known, 100U);
  EXPECT_EQ(counts.calls_known, 100U);
  EXPECT_EQ(counts.activities, 0U);
  ASSERT_TRUE(counts.distance);
  EXPECT_EQ(counts.distance->offset_ns, 4'000);
  EXPECT_FALSE(counts.beyond_error);
}

TEST(SameWork, OtherNumbersOfTheSameLaunchesChangeNothing) {
  Trace base = recording(0, 1, 0, 100, "chrome-json");
  const MergeCounts counts = merge(base, recording(-4'000, 50'000, 0, 100, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  EXPECT_EQ(counts.activities_known, 100U);
  EXPECT_EQ(counts.distance->offset_ns, -4'000);
}

TEST(SameWork, ClocksFartherApartThanTheySayAreToldByTheIds) {
  Trace base = recording(0, 1, 0, 100, "chrome-json");
  const MergeCounts counts = merge(base, recording(700'000, 1, 0, 100, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  EXPECT_TRUE(counts.beyond_error);
  EXPECT_EQ(counts.distance->offset_ns, 700'000);
}

TEST(SameWork, WithoutCommonIdsNorTimesTheBaseIsBelieved) {
  Trace base = recording(0, 1, 0, 100, "chrome-json");
  const MergeCounts counts = merge(base, recording(14'000, 50'000, 0, 90, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  EXPECT_EQ(counts.activities_known, 0U);
  EXPECT_EQ(counts.activities_doubtful, 90U);
}

TEST(SameWork, WhatOneRecorderMissedTheOtherGives) {
  Trace base = recording(0, 1, 0, 60, "chrome-json");
  const MergeCounts counts = merge(base, recording(2'000, 1, 20, 80, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  EXPECT_EQ(counts.activities_known, 40U);
  EXPECT_EQ(counts.activities, 40U);
}

TEST(SameWork, WhatOneRecorderMissedKeepsItsLaunchUnderNewNumbers) {
  Trace base = recording(0, 1, 0, 60, "chrome-json");
  merge(base, recording(2'000, 31, 20, 80, "fathom-wire"));
  EXPECT_EQ(kernels(base), 100U);
  std::map<std::int64_t, int> calls;
  std::map<std::int64_t, int> started;
  for (std::size_t row = 0; row < base.slices.size(); ++row) {
    const SliceKind kind = base.kind(SliceId(row));
    if (kind == SliceKind::runtime) ++calls[base.slices.correlation[row]];
    if (kind == SliceKind::kernel) ++started[base.slices.correlation[row]];
  }
  EXPECT_EQ(calls.size(), 100U) << "each id means one launch";
  EXPECT_EQ(calls, started);
}

TEST(SameWork, WorkOfAnotherProcessIsNeverTheSame) {
  Trace base = recording(0, 1, 0, 100, "chrome-json");
  const MergeCounts counts = merge(base, recording(0, 1, 0, 100, "fathom-wire", 200));
  EXPECT_EQ(kernels(base), 200U);
  EXPECT_EQ(counts.activities_known, 0U);
  EXPECT_EQ(counts.activities, 100U);
}

TEST(SameWork, ABaseWithoutDeviceWorkTakesAll) {
  TraceBuilder builder;
  builder.on_thread(100, 100).op("aten::mm", 0, 100'000'000);
  Trace base = builder.build();
  base.format = "chrome-json";
  base.origin_ns = kOrigin;
  base.origin_is_unix = true;
  merge(base, recording(0, 1, 0, 50, "fathom-wire"));
  EXPECT_EQ(kernels(base), 50U);
  const SliceId last(base.slices.size() - 1);
  ASSERT_EQ(base.kind(last), SliceKind::kernel);
  const LaunchConfigId config = base.kernels.config[base.slices.detail[last.row()]];
  EXPECT_EQ(base.launch_configs[config.row()].grid[0], 8);
  EXPECT_EQ(base.launch_configs.size(), 1U) << "equal launches are one row";
}

TEST(SameWork, CallsOfTheOtherStandOnTheThreadWhereOperatorsAre) {
  TraceBuilder builder;
  builder.on_thread(100, 100).op("aten::mm", 0, 100'000'000);
  Trace base = builder.build();
  base.origin_ns = kOrigin;
  base.origin_is_unix = true;
  merge(base, recording(0, 1, 0, 1, "fathom-wire"));
  ASSERT_EQ(base.name(SliceId(1)), "cudaLaunchKernel");
  EXPECT_EQ(base.slices.track[1], base.slices.track[0]);
}

TEST(SameWork, EqualKernelsBackToBackArePairedInTheirOrder) {
  const auto row_of_kernels = [](std::int64_t offset, int from, int count) {
    TraceBuilder builder;
    builder.on_thread(100, 100).op("aten::add", 0, 100'000'000);
    for (int i = from; i < from + count; ++i)
      builder.kernel("add", 1'000'000 + std::int64_t{3'000} * i + offset, 2'000);
    Trace trace = builder.build();
    trace.origin_ns = kOrigin;
    trace.origin_is_unix = true;
    return trace;
  };
  Trace base = row_of_kernels(0, 0, 1000);
  const MergeCounts counts = merge(base, row_of_kernels(1'000, 100, 1000));
  EXPECT_EQ(counts.activities_known, 900U);
  EXPECT_EQ(kernels(base), 1100U);
  EXPECT_EQ(counts.distance->offset_ns, 1'000);
}

TEST(SameWork, AnOffsetThatAllAgreeWithIsBetterThanANearerOne) {
  const auto row_of_kernels = [](std::int64_t offset) {
    TraceBuilder builder;
    builder.on_thread(100, 100).op("aten::add", 0, 100'000'000);
    for (int i = 0; i < 1000; ++i)
      builder.kernel("add", 1'000'000 + std::int64_t{4'000} * i + offset, 1'500);
    Trace trace = builder.build();
    trace.origin_ns = kOrigin;
    trace.origin_is_unix = true;
    return trace;
  };
  Trace base = row_of_kernels(0);
  const MergeCounts counts = merge(base, row_of_kernels(3'000));
  EXPECT_EQ(counts.distance->offset_ns, 3'000);
  EXPECT_EQ(kernels(base), 1000U);
}

TEST(SameWork, ARangeThatBothSawIsOneWithTheArgumentsOfEither) {
  TraceBuilder builder;
  builder.on_thread(100, 100).annotation("forward", 1'000'000, 500'000);
  builder.op("aten::mm", 1'100'000, 100'000);
  Trace base = builder.build();
  base.origin_ns = kOrigin;
  base.origin_is_unix = true;
  TraceBuilder ours;
  ours.on_thread(100, 100).annotation("forward", 999'000, 503'000);
  Trace other = ours.build();
  other.origin_ns = kOrigin;
  other.origin_is_unix = true;
  other.slice_arguments.push_back(
      {0, other.strings.intern("domain"), other.strings.intern("training")});
  const MergeCounts counts = merge(base, other);
  EXPECT_EQ(base.slices.size(), 2U);
  EXPECT_EQ(counts.ranges_known, 1U);
  EXPECT_EQ(base.argument(SliceId(0), "domain"), "training");
}

TEST(SameWork, MergingItselfAddsNothing) {
  for (const std::int64_t offset : {0, 1, 999, 9'000, -9'000}) {
    Trace base = recording(0, 1, 0, 200, "chrome-json");
    const std::size_t before = base.slices.size();
    merge(base, recording(offset, 1, 0, 200, "fathom-wire"));
    EXPECT_EQ(base.slices.size(), before) << offset;
  }
}

}  // namespace
}  // namespace fathom
