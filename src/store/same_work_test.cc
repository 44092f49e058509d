// Two recorders of one program: nothing is counted twice, and nothing is lost.
#include "store/same_work.h"

#include <map>
#include <random>
#include <string>
#include <vector>

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

/// What ran on a GPU, and which of the recorders saw it.
struct Ran {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t correlation = 0;
  std::string name;
  std::int64_t stream = 7;
  bool by_torch = true;
  bool by_cupti = true;
};

/// A recorder's clock, and how it rounds.
struct Recorder {
  std::int64_t offset = 0;
  std::int64_t jitter = 0;
  std::string_view format;
  std::int64_t pid = 100;
};

Trace recorded_by(const Recorder& who, const std::vector<Ran>& all, bool Ran::*saw,
                  std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> rounding(-who.jitter, who.jitter);
  TraceBuilder builder;
  builder.on_thread(who.pid, who.pid);
  if (who.format == "chrome-json") builder.op("aten::mm", 0, 2'000'000'000);
  std::int64_t last_call = INT64_MIN;
  for (const Ran& ran : all) {
    if (!(ran.*saw)) continue;
    if (ran.correlation != last_call)
      builder.on_thread(who.pid, who.pid)
          .runtime("cudaLaunchKernel", ran.start - 8'000 + who.offset, 500, ran.correlation);
    last_call = ran.correlation;
    builder.on_stream(ran.stream, 0);
    builder.kernel(ran.name, ran.start + who.offset + rounding(random), ran.duration,
                   ran.correlation);
  }
  Trace trace = builder.build();
  trace.format = who.format;
  trace.origin_ns = kOrigin;
  trace.origin_is_unix = true;
  return trace;
}

/// Launches of one kernel, of several in quick succession, and of graphs, on two streams.
std::vector<Ran> program(std::mt19937_64& random, std::int64_t first_id) {
  const auto between = [&random](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  constexpr std::int64_t kIds = std::int64_t{1} << 32;
  std::vector<Ran> all;
  std::int64_t time = 10'000'000;
  std::int64_t id = first_id;
  for (int launch = 0; launch < 400; ++launch) {
    const std::string name = "kernel" + std::to_string(between(0, 3));
    const std::int64_t duration = between(900, 1'100) * (launch % 5 == 0 ? 20 : 1);
    const bool graph = between(0, 9) == 0;
    const int kernels = static_cast<int>(between(1, 12));
    const std::int64_t stream = between(0, 4) == 0 ? 13 : 7;
    time += between(2'000, 60'000);
    for (int i = 0; i < kernels; ++i) {
      all.push_back({time, duration, id, name, stream});
      time += duration + between(50, 400);
      if (!graph) id = (id + 1) % kIds;
    }
    id = (id + 1) % kIds;
  }
  return all;
}

/// Kernels by when they truly began, to what clocks and roundings make of it.
std::string differences(const Trace& merged, const std::vector<Ran>& all, std::int64_t within) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>> there;
  for (std::size_t row = 0; row < merged.slices.size(); ++row) {
    const SliceId id(row);
    if (merged.kind(id) == SliceKind::kernel)
      there[{std::string(merged.name(id)), merged.track(id).stream}].push_back(
          to_ns(merged.slices.start[row]));
  }
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>> wanted;
  for (const Ran& ran : all) {
    if (ran.by_torch || ran.by_cupti) wanted[{ran.name, ran.stream}].push_back(ran.start);
  }
  if (there.size() != wanted.size()) return "other streams or names";
  for (auto& [key, times] : there) {
    std::vector<std::int64_t>& right = wanted[key];
    std::ranges::sort(times);
    std::ranges::sort(right);
    if (times.size() != right.size())
      return std::to_string(times.size()) + " instead of " + std::to_string(right.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (std::abs(times[i] - right[i]) > within)
        return "one lies " + std::to_string(times[i] - right[i]) + " ns off";
    }
  }
  return "";
}

TEST(SameWork, WhateverTwoRecordersSawEachKernelIsThereOnceWhereItRan) {
  constexpr std::int64_t kStated = 10'000;
  for (unsigned seed = 0; seed < 80; ++seed) {
    std::mt19937_64 random(seed);
    const auto between = [&random](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    // Some of them wrap around.
    const std::int64_t first_id = seed % 3 == 0 ? (std::int64_t{1} << 32) - 500 : between(1, 1'000);
    std::vector<Ran> all = program(random, first_id);
    const std::int64_t missing = between(0, 70);  // percent, of torch's
    for (Ran& ran : all) {
      ran.by_torch = between(0, 99) >= missing;
      ran.by_cupti = !ran.by_torch || between(0, 99) >= 3;
    }
    Trace base = recorded_by({0, 0, "chrome-json"}, all, &Ran::by_torch, random);
    const Recorder cupti{between(-kStated, kStated), 50, "fathom-wire"};
    const Trace other = recorded_by(cupti, all, &Ran::by_cupti, random);
    const MergeCounts counts = merge_into(base, other, {.clock_error_ns = kStated});
    EXPECT_EQ(broken_promise(base), "");
    EXPECT_EQ(differences(base, all, kStated + cupti.jitter), "")
        << "seed " << seed << ", offset " << cupti.offset << ", missing " << missing << " %";
    EXPECT_EQ(counts.activities_doubtful, 0U) << seed;
  }
}

TEST(SameWork, ProcessesThatNumberAlikeOnOneGpuAreKeptApart) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Ran> all = program(random, 1);
    for (Ran& ran : all) ran.by_torch = random() % 3 != 0;
    Trace base = recorded_by({0, 0, "chrome-json"}, all, &Ran::by_torch, random);
    const std::size_t torchs = kernels(base);
    // In step with the first, and merged before what the first's own injection saw.
    merge_into(base, recorded_by({300, 50, "fathom-wire", 200}, all, &Ran::by_cupti, random), {});
    EXPECT_EQ(kernels(base), torchs + all.size()) << seed;
    merge_into(base, recorded_by({-200, 50, "fathom-wire"}, all, &Ran::by_cupti, random), {});
    EXPECT_EQ(kernels(base), 2 * all.size()) << seed;
    // A further part of the second's: its own streams are known by now.
    const std::size_t tracks = base.tracks.size();
    merge_into(base, recorded_by({300, 0, "fathom-wire", 200}, all, &Ran::by_cupti, random), {});
    EXPECT_EQ(kernels(base), 2 * all.size()) << seed;
    EXPECT_EQ(base.tracks.size(), tracks);
  }
}

}  // namespace
}  // namespace fathom
