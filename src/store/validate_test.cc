// Broken promises are noticed.
#include "store/validate.h"

#include <limits>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

Trace small_trace() {
  TraceBuilder builder;
  builder.op("aten::mm", 100, 50).shapes("[[2,3]]");
  builder.kernel("gemm", 200, 30, 4).grid(8, 1, 1);
  return builder.build();
}

TEST(Validate, BuiltTracesKeepTheirPromises) { EXPECT_EQ(broken_promise(small_trace()), ""); }

TEST(Validate, NegativeDurationsAreNoticed) {
  Trace trace = small_trace();
  trace.slices.duration[1] = duration_ns(-1);
  EXPECT_EQ(broken_promise(trace), "a duration is negative (row 1)");
}

TEST(Validate, ColumnsOfDifferentLengthAreNoticed) {
  Trace trace = small_trace();
  trace.slices.name.push_back(StringId(0));
  EXPECT_EQ(broken_promise(trace), "slices: columns differ in length (row 3)");
}

TEST(Validate, DetailsOutOfRangeAreNoticed) {
  Trace trace = small_trace();
  trace.slices.detail[0] = 7;
  EXPECT_EQ(broken_promise(trace), "a slice's detail is no row of its table (row 0)");
}

TEST(Validate, WrongCountsAreNoticed) {
  Trace trace = small_trace();
  ++trace.tracks[0].slices;
  EXPECT_EQ(broken_promise(trace), "a track counts its slices wrongly (row 0)");
}

TEST(Validate, TheFirstOfManyRowsIsNamed) {
  TraceBuilder builder;
  for (int i = 0; i < 200'000; ++i) builder.op("aten::mm", i * 10, 5);
  Trace trace = builder.build();
  EXPECT_EQ(broken_promise(trace), "");
  trace.slices.track[150'000] = TrackId(9);
  trace.slices.name[123'456] = StringId(1'000'000);
  EXPECT_EQ(broken_promise(trace), "a slice has no name (row 123456)");
}

TEST(Validate, NumbersOfNothingAreNoticed) {
  const auto complaint = [](auto&& change) {
    TraceBuilder builder;
    const SliceId op = builder.op("aten::mm", 100, 50).shapes("[[2,3]]").stack("a");
    builder.kernel("gemm", 200, 30, 4).grid(8, 1, 1);
    builder.copy(CopyKind::h2d, 5, 1, 3, 64);
    builder.sync("Stream Sync", 7, 1);
    builder.flow("fwdbwd", 1, op, op);
    builder.op("nccl:all_reduce", 9, 1).collective({.in_elements = 5});
    builder.memory(11, 512, 1, 0, 64, 512, 1024).sample("load", 12, 0.5).instant("mark", 13);
    builder.process(100, "python", "label");
    Trace trace = builder.build();
    EXPECT_EQ(broken_promise(trace), "");
    change(trace);
    return broken_promise(trace);
  };
  const StringId text(1'000'000);
  const TrackId track(1'000'000);
  EXPECT_NE(complaint([](Trace& t) { t.ops.signature[0] = SignatureId(7); }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.ops.stack[0] = text; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.ops.module[0] = text; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.signatures[0].shapes = text; }), "");
  EXPECT_NE(complaint([](Trace& t) { t.kernels.config[0] = LaunchConfigId(); }), "");
  EXPECT_NE(complaint([](Trace& t) { t.copies.kind[0] = static_cast<CopyKind>(9); }), "");
  EXPECT_NE(complaint([](Trace& t) { t.copies.source[0] = static_cast<MemoryKind>(9); }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.syncs.kind[0] = text; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.flows.track[0] = track; }), "");
  EXPECT_NE(complaint([](Trace& t) { t.flows.phase[0] = static_cast<FlowPhase>(9); }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.collectives[0].name = text; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.memory.track[0] = track; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.samples.track[0] = track; }), "");
  EXPECT_NE(
      complaint([](Trace& t) { t.samples.value[0] = std::numeric_limits<double>::infinity(); }),
      "");
  EXPECT_NE(complaint([&](Trace& t) { t.instants.name[0] = text; }), "");
  EXPECT_NE(complaint([&](Trace& t) { t.processes[0].name = text; }), "");
  EXPECT_NE(complaint([](Trace& t) { t.categories[0].kind = static_cast<SliceKind>(99); }), "");
  EXPECT_NE(complaint([](Trace& t) { t.tracks[0].kind = static_cast<TrackKind>(9); }), "");
}

}  // namespace
}  // namespace fathom
