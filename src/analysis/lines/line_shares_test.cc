// What lines caused, on traces small enough to be divided by hand, and that all of it is divided.
#include "analysis/lines/line_shares.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/syncs.h"
#include "analysis/lines/line_runs.h"
#include "store/slice_appender.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kPid = 100;

struct Run {
  std::int64_t tid;
  std::int64_t begin;
  std::int64_t end;
  int line;
};

/// As the reader of capture files has it.
void add_runs(Trace& trace, const std::vector<Run>& runs) {
  const auto category = static_cast<std::uint8_t>(trace.categories.size());
  trace.categories.push_back({trace.strings.intern("line"), SliceKind::other, 0});
  std::map<std::int64_t, TrackId> tracks;
  for (const Run& run : runs) {
    const auto [at, added] = tracks.try_emplace(run.tid, trace.tracks.size());
    if (added) {
      Track track;
      track.kind = TrackKind::async;
      track.process = trace.strings.intern(std::to_string(kPid));
      track.thread = trace.strings.intern("line " + std::to_string(run.tid));
      track.pid = kPid;
      track.tid = run.tid;
      trace.tracks.push_back(track);
    }
    SliceAppender(trace).add(
        {.track = at->second,
         .start = time_ns(run.begin),
         .duration = duration_ns(run.end - run.begin),
         .name = trace.strings.intern("a.py:" + std::to_string(run.line) + " f"),
         .category = category});
  }
}

class Divided {
 public:
  Divided(TraceBuilder& builder, const std::vector<Run>& runs, Selection selection = {})
      : trace_(with_runs(builder, runs)), analyses_(trace_), selection_(selection) {
    shares_ = compute_line_shares(context());
  }
  /// Of a line; 0 is no line.
  [[nodiscard]] LineShare of(int line) const {
    LineShare sum;
    for (const auto& [key, share] : shares_.shares) {
      const std::uint32_t first =
          key.statement.valid() ? statement_name(trace_.text(key.statement)).first : 0;
      if (first == static_cast<std::uint32_t>(line)) sum += share;
    }
    return sum;
  }
  [[nodiscard]] LineShare all() const {
    LineShare sum;
    for (const auto& [key, share] : shares_.shares) sum += share;
    return sum;
  }
  [[nodiscard]] Context context() const { return {trace_, analyses_, selection_, {}}; }
  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  static Trace with_runs(TraceBuilder& builder, const std::vector<Run>& runs) {
    Trace trace = builder.build();
    add_runs(trace, runs);
    return trace;
  }
  Trace trace_;
  Analyses analyses_;
  Selection selection_;
  LineShares shares_;
};

void launch(TraceBuilder& builder, std::int64_t at, std::int64_t begin, std::int64_t end,
            std::int64_t id) {
  builder.op("aten::mm", at - 2, 10);
  builder.runtime("cudaLaunchKernel", at, 5, id);
  builder.kernel("gemm", begin, end - begin, id);
}

TEST(LineShares, StatementNamesAreTakenApart) {
  const StatementName name = statement_name("/my dir/a:b.py:12 C.f.<locals>.g");
  EXPECT_EQ(name.file, "/my dir/a:b.py");
  EXPECT_EQ(name.first, 12U);
  EXPECT_EQ(name.function, "C.f.<locals>.g");
}

TEST(LineShares, WithoutATimelineThereAreNone) {
  TraceBuilder builder;
  launch(builder, 10, 30, 130, 1);
  const Divided divided(builder, {});
  EXPECT_EQ(divided.all(), LineShare());
}

// Line 10 launches 900, line 20 launches 100, line 30 waits for both.
TEST(LineShares, AWaitIsOfTheLineThatWaitsAndItsWorkOfThoseThatLaunchedIt) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  launch(builder, 10, 20, 920, 1);
  launch(builder, 40, 920, 1020, 2);
  builder.runtime("cudaDeviceSynchronize", 60, 970);
  launch(builder, 1045, 1060, 1100, 3);
  const Divided divided(builder,
                        {{1, 0, 30, 10}, {1, 30, 55, 20}, {1, 55, 1040, 30}, {1, 1040, 1060, 10}});
  EXPECT_EQ(to_ns(divided.of(30).blocked), 970);
  EXPECT_EQ(to_ns(divided.of(10).blocked), 0);
  EXPECT_EQ(to_ns(divided.of(10).awaited), 860);
  EXPECT_EQ(to_ns(divided.of(20).awaited), 100);
  EXPECT_EQ(to_ns(divided.of(0).awaited), 10);  // the device was idle
  EXPECT_EQ(to_ns(divided.of(10).device), 900 + 40);
  EXPECT_EQ(to_ns(divided.of(20).device), 100);
  // From 1020 on the host waits (to 1030), then leaves line 30 at 1040 and launches at 1045.
  EXPECT_EQ(to_ns(divided.of(30).idle), 20);
  EXPECT_EQ(to_ns(divided.of(10).idle), 12 + 20);  // before the first kernel, too
  EXPECT_EQ(to_ns(divided.all().idle), 12 + 40);
}

// The program of scalene#634: y_hat = model(x); loss = ((y - y_hat)**2).mean(); print(loss.cpu()).
// The work takes 900 and 100, of which the host sees nothing but the wait.
TEST(LineShares, APrintIsChargedWithTheWaitAndTheModelWithTheWork) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  launch(builder, 4, 10, 910, 1);
  launch(builder, 16, 910, 1010, 2);
  builder.runtime("cudaStreamSynchronize", 30, 980);
  const Divided divided(builder, {{1, 0, 12, 1}, {1, 12, 25, 2}, {1, 25, 1015, 3}});
  EXPECT_EQ(to_ns(divided.of(1).device), 900);
  EXPECT_EQ(to_ns(divided.of(2).device), 100);
  EXPECT_EQ(to_ns(divided.of(3).device), 0);
  EXPECT_EQ(to_ns(divided.of(1).blocked + divided.of(2).blocked), 0);
  EXPECT_EQ(to_ns(divided.of(3).blocked), 980);
  EXPECT_EQ(to_ns(divided.of(1).awaited), 880);
  EXPECT_EQ(to_ns(divided.of(2).awaited), 100);
}

// The same with sum(range(…)) before the print: the run is as long, and the sum is what takes it.
TEST(LineShares, AComputationThatOutlastsTheDeviceHasTheTimeAndNothingWaits) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  launch(builder, 4, 10, 910, 1);
  launch(builder, 16, 910, 1010, 2);
  builder.runtime("cudaStreamSynchronize", 1030, 5);
  const Divided divided(builder,
                        {{1, 0, 12, 1}, {1, 12, 25, 2}, {1, 25, 1025, 3}, {1, 1025, 1040, 4}});
  EXPECT_EQ(to_ns(divided.of(1).device), 900);
  EXPECT_EQ(to_ns(divided.of(2).device), 100);
  EXPECT_EQ(to_ns(divided.of(3).device + divided.of(4).device), 0);
  EXPECT_EQ(to_ns(divided.of(3).host), 1000);
  EXPECT_EQ(to_ns(divided.of(3).blocked), 0);
  EXPECT_EQ(to_ns(divided.of(4).blocked), 5);
  EXPECT_EQ(to_ns(divided.of(1).awaited + divided.of(2).awaited), 0);
  EXPECT_EQ(to_ns(divided.of(0).awaited), 5);
}

TEST(LineShares, TheBackwardPassIsOfTheLineOfItsForwardOperator) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  builder.op("aten::mm", 10, 20).sequence(7);
  builder.runtime("cudaLaunchKernel", 15, 5, 1);
  builder.kernel("gemm", 30, 10, 1);
  builder.on_thread(2, kPid);
  builder.op("autograd::engine::evaluate_function: MmBackward0", 110, 40).sequence(7, 1);
  builder.op("aten::mm", 115, 20);
  builder.runtime("cudaLaunchKernel", 120, 5, 2);
  builder.kernel("gemm", 140, 30, 2);
  builder.memory(121, 512, 1, 0, 0xa, 512);
  builder.op("aten::add_", 160, 20);  // of no forward operator
  builder.runtime("cudaLaunchKernel", 165, 5, 3);
  builder.kernel("add", 180, 4, 3);
  const Divided divided(builder, {{1, 0, 100, 10}, {1, 100, 190, 20}});
  EXPECT_EQ(to_ns(divided.of(10).device), 10);
  EXPECT_EQ(to_ns(divided.of(10).backward_device), 30);
  EXPECT_EQ(to_ns(divided.of(10).operators), 20);
  EXPECT_EQ(to_ns(divided.of(10).backward_operators), 40);
  EXPECT_EQ(divided.of(10).device_allocated, 512);
  // The leading thread waits in line 20 for what the other one does.
  EXPECT_EQ(to_ns(divided.of(20).device), 4);
  EXPECT_EQ(to_ns(divided.of(20).operators), 20);
  EXPECT_EQ(to_ns(divided.of(20).host), 84);
}

TEST(LineShares, IdleTimeAfterTheLastLaunchIsTheLeadingThreads) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  launch(builder, 10, 20, 120, 1);
  builder.op("aten::mm", 190, 10);
  const Divided divided(builder, {{1, 0, 150, 10}, {1, 150, 180, 20}});
  EXPECT_EQ(to_ns(divided.of(10).idle), 12 + 30);
  EXPECT_EQ(to_ns(divided.of(20).idle), 30);
  EXPECT_EQ(to_ns(divided.of(0).idle), 20);
}

TEST(LineShares, WhatIsHeldAtThePeakIsOfTheLinesThatAllocatedIt) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  builder.op("aten::mm", 0, 100);
  builder.memory(10, 100, 0, -1, 0xa, 1100);
  builder.memory(20, 50, 0, -1, 0xb, 1150);
  builder.memory(30, -100, 0, -1, 0xa, 1050);
  builder.memory(40, 300, 0, -1, 0xc, 1350);  // the peak
  builder.memory(50, -50, 0, -1, 0xb, 1300);
  builder.memory(60, 10, 0, -1, 0xd, 1310);
  const Divided divided(builder, {{1, 0, 35, 10}, {1, 35, 70, 20}});
  EXPECT_EQ(divided.of(10).host_allocated, 150);
  EXPECT_EQ(divided.of(20).host_allocated, 310);
  EXPECT_EQ(divided.of(10).host_held, 50);
  EXPECT_EQ(divided.of(20).host_held, 300);
  EXPECT_EQ(divided.of(0).host_held, 1000);  // from before the recording
}

TEST(LineShares, CopiesAreOfTheLineThatLaunchesThem) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  builder.runtime("cudaMemcpyAsync", 10, 5, 1);
  builder.copy(CopyKind::h2d, 20, 10, 1, 4096);
  builder.copy(CopyKind::d2h, 40, 10, 2, 100);  // its launch is not in the trace
  const Divided divided(builder, {{1, 0, 30, 10}});
  EXPECT_EQ(divided.of(10).copied, 4096);
  EXPECT_EQ(divided.of(0).copied, 100);
}

TEST(LineShares, AWindowCutsThem) {
  TraceBuilder builder;
  builder.on_thread(1, kPid);
  launch(builder, 10, 20, 120, 1);
  builder.op("aten::mm", 190, 10);
  const Selection selection{.window = Interval{time_ns(50), time_ns(100)}};
  const Divided divided(builder, {{1, 0, 70, 10}, {1, 70, 200, 20}}, selection);
  const Interval window = divided.context().window();
  EXPECT_EQ(to_ns(divided.of(10).device), 50);
  EXPECT_EQ(divided.all().host, window.length());
  EXPECT_EQ(to_ns(divided.of(10).operators), 0);
}

/// A trace of two threads, two devices, nested and asynchronous work, by chance.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}

  Divided made(Selection selection) {
    TraceBuilder builder;
    for (std::int64_t tid = 1; tid <= 2; ++tid) host(builder, tid);
    std::vector<Run> runs;
    for (std::int64_t tid = 1; tid <= 3; ++tid) {
      for (std::int64_t at = number(50); at < kEnd;) {
        const std::int64_t end = at + number(120);
        if (number(4) > 0)
          runs.push_back({tid == 2 ? 7 : tid, at, end, 1 + static_cast<int>(number(6))});
        at = end;
      }
    }
    return {builder, runs, selection};
  }
  std::int64_t number(std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random_);
  }
  static constexpr std::int64_t kEnd = 5000;

 private:
  void host(TraceBuilder& builder, std::int64_t tid) {
    builder.on_thread(tid, kPid);
    for (std::int64_t at = number(100); at < kEnd; at += 20 + number(150)) {
      const bool backward = tid == 2 && number(2) == 0;
      builder.op("op", at, 60).sequence(number(20), backward ? 1 : kAbsent);
      builder.op("inner", at + 5, 30);
      const std::int64_t id = ++correlation_;
      const std::array<const char*, 4> calls = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy",
                                                "cudaDeviceSynchronize"};
      const std::int64_t call = number(4);
      builder.runtime(calls.at(static_cast<std::size_t>(call)), at + 10, 8 + number(10), id);
      builder.on_stream(number(2), static_cast<std::int32_t>(number(2)));
      const std::int64_t start = at + 20 + number(200);
      if (call == 0) builder.kernel("gemm", start, 1 + number(90), number(8) == 0 ? 9999 : id);
      if (call == 1 || call == 2)
        builder.copy(CopyKind::h2d, start, 1 + number(40), id, number(999));
      const bool gone = number(3) == 0;
      const int type = static_cast<int>(number(2));
      builder.memory(at + 12, gone ? -number(100) : number(100), type, type == 0 ? -1 : 0,
                     number(30), 1000 + number(500));
    }
  }
  std::mt19937 random_;
  std::int64_t correlation_ = 0;
};

TEST(LineShares, SumToTheWholeWhateverTheRecording) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Chance chance(seed);
    Selection selection;
    if (seed % 3 == 1) {
      const std::int64_t begin = chance.number(3000);
      selection.window = Interval{time_ns(begin), time_ns(begin + chance.number(2000))};
    }
    if (seed % 4 == 1) selection.device = 1;
    const Divided divided = chance.made(selection);
    const Context context = divided.context();
    const Trace& trace = divided.trace();
    const Selector selector = context.selector();
    const Interval window = context.window();
    const LineShare all = divided.all();
    SCOPED_TRACE("seed " + std::to_string(seed));

    Duration busy{};
    Duration idle{};
    for (const DeviceTimeline& device : context.timelines().devices) {
      if (selection.device && device.device != *selection.device) continue;
      busy += busy_time(device, window).busy();
      idle += account(context, context.accounting(), device.device, window).idle();
    }
    EXPECT_EQ(all.device + all.backward_device, busy);
    EXPECT_EQ(all.idle, idle);
    EXPECT_EQ(all.host, window.length() * 3);

    Duration operators{};
    const Nesting& nesting = context.nesting();
    const Column<Duration> self = self_times(trace, nesting);
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      bool inside = false;
      for (SliceId at(row); at.valid(); at = nesting.parent[at.row()])
        inside = inside || trace.kind(at) == SliceKind::cpu_op;
      if (inside && selector.host(trace, SliceId(row))) operators += self[row];
    }
    EXPECT_EQ(all.operators + all.backward_operators, operators);

    Duration blocked{};
    for (const SyncCall& sync : compute_syncs(context)) {
      if (!selector.host(trace, sync.call)) continue;
      if (selection.device && sync.device != selection.device) continue;
      blocked += trace.slices.duration[sync.call.row()];
    }
    EXPECT_EQ(all.blocked, blocked);
    EXPECT_EQ(all.awaited, blocked);

    std::int64_t host = 0;
    std::int64_t device = 0;
    std::int64_t host_peak = 0;
    std::int64_t device_peak = 0;
    for (std::size_t row = 0; row < trace.memory.size(); ++row) {
      if (!selector.time(trace.memory.time[row])) continue;
      const bool on_host = trace.memory.device[row] < 0;
      if (!on_host && selection.device == 1) continue;
      (on_host ? host : device) += std::max<std::int64_t>(trace.memory.bytes[row], 0);
      std::int64_t& peak = on_host ? host_peak : device_peak;
      peak = std::max(peak, trace.memory.total_allocated[row]);
    }
    EXPECT_EQ(all.host_allocated, host);
    EXPECT_EQ(all.device_allocated, device);
    EXPECT_EQ(all.host_held, host_peak);
    EXPECT_EQ(all.device_held, device_peak);

    std::int64_t copied = 0;
    for (const SliceId activity : context.links().activities) {
      if (trace.kind(activity) == SliceKind::memcpy && selector.activity(trace, activity))
        copied += trace.copies.bytes[trace.slices.detail[activity.row()]];
    }
    EXPECT_EQ(all.copied, copied);
  }
}

}  // namespace
}  // namespace fathom
