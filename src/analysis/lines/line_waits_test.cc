// Waits by line and cause, and that each of them is in exactly one place.
#include "analysis/lines/line_waits.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/accounting/syncs.h"
#include "analysis/samples/sample_builder.h"
#include "store/slice_appender.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kPid = 100;
constexpr std::int64_t kMs = 1'000'000;

struct LineRun {
  std::int64_t begin;
  std::int64_t end;
  int line;
};

/// The timeline of lines of the thread whose number is the process's, in ms.
void add_runs(Trace& trace, const std::vector<LineRun>& runs) {
  const auto category = static_cast<std::uint8_t>(trace.categories.size());
  trace.categories.push_back({trace.strings.intern("line"), SliceKind::other, 0});
  Track track;
  track.kind = TrackKind::async;
  track.process = trace.strings.intern(std::to_string(kPid));
  track.thread = trace.strings.intern("line");
  track.pid = track.tid = kPid;
  trace.tracks.push_back(track);
  for (const LineRun& run : runs) {
    SliceAppender(trace).add(
        {.track = TrackId(trace.tracks.size() - 1),
         .start = time_ns(run.begin * kMs),
         .duration = duration_ns((run.end - run.begin) * kMs),
         .name = trace.strings.intern("a.py:" + std::to_string(run.line) + " f"),
         .category = category});
  }
}

void add_line(Trace& trace, std::uint32_t first, std::uint32_t last) {
  trace.lines.push_back({.pid = kPid,
                         .file = trace.strings.intern("a.py"),
                         .function = trace.strings.intern("f"),
                         .first = first,
                         .last = last,
                         .hits = 1});
}

/// Milliseconds by line, 0 for no line, and cause.
using Sums = std::map<std::pair<std::uint32_t, std::string>, std::int64_t>;
Sums waits_of(const Trace& trace, const Selection& selection = {}) {
  const Analyses analyses(trace);
  Sums sums;
  for (const auto& [line, causes] : compute_line_waits({trace, analyses, selection, {}}).lines) {
    for (const auto& [cause, time] : causes)
      sums[{line.first, std::string(cause)}] += to_ns(time) / kMs;
  }
  return sums;
}

TEST(LineWaits, WithoutRecordsNothingIsKnown) {
  const Trace trace = TraceBuilder().build();
  const Analyses analyses(trace);
  EXPECT_FALSE(compute_line_waits({trace, analyses, {}, {}}).known);
}

TEST(LineWaits, CallsAndBatchesAreOfTheLineThatTheyBeganIn) {
  TraceBuilder builder;
  builder.on_thread(kPid, kPid);
  builder.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 10 * kMs,
                     20 * kMs);
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 35 * kMs,
                     5 * kMs);
  builder.runtime("cudaLaunchKernel", 41 * kMs, kMs, 1);
  builder.kernel("gemm", 43 * kMs, 50 * kMs, 1);
  builder.runtime("cudaDeviceSynchronize", 45 * kMs, 48 * kMs);
  builder.runtime("cudaStreamSynchronize", 98 * kMs, kMs);
  Trace trace = builder.build();
  add_runs(trace, {{0, 32, 5}, {32, 44, 6}, {44, 95, 7}});
  EXPECT_EQ(waits_of(trace), (Sums{{{5, "data loader"}, 20},
                                   {{7, "cudaDeviceSynchronize"}, 48},
                                   {{0, "cudaStreamSynchronize"}, 1}}));
  EXPECT_EQ(waits_of(trace, {.window = Interval{time_ns(30 * kMs), time_ns(60 * kMs)}}),
            (Sums{{{7, "cudaDeviceSynchronize"}, 48}}));
}

TEST(LineWaits, SampledWaitsAreOfTheInnermostStatementOfTheStack) {
  Trace trace = TraceBuilder().build();
  add_line(trace, 3, 3);
  add_line(trace, 7, 9);
  SampleBuilder samples(trace);
  samples.thread(kPid, kPid);
  samples.at("f a.py 3;g a.py 8;acquire threading.py 100").waits("lock", 30);
  samples.at("f a.py 3;sleep lib.py 5").waits("sleep", 20).runs(5);
  samples.at("other b.py 3").waits("file", 10);
  samples.at("").waits("poll", 4);
  samples.at("other b.py 3").waits("none", 6);  // it was over when the cause was read
  samples.at("").waits("", 7);
  EXPECT_EQ(waits_of(trace), (Sums{{{7, "lock"}, 30},
                                   {{3, "sleep"}, 20},
                                   {{0, "file"}, 10},
                                   {{0, "poll"}, 4},
                                   {{0, "other"}, 13}}));
}

TEST(LineWaits, FramesMayNameTheirFileByARelativePath) {
  Trace trace = TraceBuilder().build();
  add_line(trace, 3, 3);
  trace.lines.front().file = trace.strings.intern("/home/me/src/a.py");
  SampleBuilder samples(trace);
  samples.thread(kPid, kPid);
  samples.at("f src/a.py 3").waits("lock", 30);
  samples.at("f rc/a.py 3").waits("sleep", 20);
  samples.at("f /src/a.py 3").waits("poll", 5);
  EXPECT_EQ(waits_of(trace), (Sums{{{3, "lock"}, 30}, {{0, "sleep"}, 20}, {{0, "poll"}, 5}}));
}

TEST(LineWaits, WhatIsKnownExactlyIsNotCountedAgain) {
  TraceBuilder builder;
  builder.on_thread(kPid, kPid);
  builder.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 10 * kMs,
                     20 * kMs);
  Trace trace = builder.build();
  add_runs(trace, {{0, 60, 5}});
  add_line(trace, 5, 5);
  SampleBuilder samples(trace);
  samples.thread(kPid, kPid).at("f a.py 5").waits("poll", 15).waits("poll", 25);
  // 10 to 15 and 15 to 30 were the loader's.
  EXPECT_EQ(waits_of(trace), (Sums{{{5, "data loader"}, 20}, {{5, "poll"}, 10 + 10}}));
}

TEST(LineWaits, AllOfThemSumToTheWhole) {
  std::mt19937 random(7);
  const auto below = [&random](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 50; ++round) {
    TraceBuilder builder;
    builder.on_thread(kPid, kPid);
    std::int64_t calls = 0;
    for (std::int64_t at = 1; at < 200; at += 10) {
      const std::int64_t length = 1 + below(9);
      if (below(3) == 0) {
        builder.runtime("cudaStreamSynchronize", at * kMs, length * kMs);
      } else if (below(2) == 0) {
        builder.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                           at * kMs, length * kMs);
      } else {
        continue;
      }
      calls += length;
    }
    Trace trace = builder.build();
    std::vector<LineRun> runs;
    for (std::int64_t at = below(20); at < 200; at += 10 + below(20))
      runs.push_back({at, at + 1 + below(9), static_cast<int>(1 + below(5))});
    add_runs(trace, runs);
    for (std::uint32_t line = 1; line < 6; ++line) add_line(trace, line, line);
    SampleBuilder samples(trace);
    std::int64_t sampled = 0;
    samples.thread(kPid, kPid + 1);  // a thread without calls that wait
    for (int look = 0; look < 20; ++look) {
      const std::int64_t blocked = below(10);
      samples.at("f a.py " + std::to_string(1 + below(9)))
          .waits(below(2) == 0 ? "lock" : "sleep", blocked);
      sampled += blocked;
    }
    std::int64_t all = 0;
    for (const auto& [where, time] : waits_of(trace)) all += time;
    EXPECT_EQ(all, calls + sampled) << round;
  }
}

}  // namespace
}  // namespace fathom
