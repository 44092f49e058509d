// The report collectives: kinds, sizes, and waiting against transfer.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
constexpr std::string_view kGather = "ncclDevKernel_AllGather_RING_LL";

Value number(std::int64_t value) { return Value(value); }

/// A collective of so many floats, which an operator launches.
void exchange(TraceBuilder& builder, std::string_view kernel, std::int64_t correlation,
              std::int64_t duration, std::string_view shapes) {
  const std::int64_t start = 1000 * correlation;
  builder.op("nccl:exchange", start, 100).shapes(shapes).types(R"(["float"])");
  builder.runtime("cudaLaunchKernel", start + 10, 20, correlation);
  builder.on_stream(20).kernel(kernel, start + 50, duration, correlation);
}

TraceBuilder exchanges() {
  TraceBuilder builder;
  exchange(builder, kReduce, 1, 100, "[[100]]");
  exchange(builder, kReduce, 2, 150, "[[100]]");
  exchange(builder, kReduce, 3, 400, "[[100]]");
  exchange(builder, kReduce, 4, 900, "[[9000]]");
  exchange(builder, kGather, 5, 50, "[[7]]");
  return builder;
}

TEST(Collectives, AreSummedByKind) {
  TraceBuilder builder = exchanges();
  const Answer answer("collectives", builder.build());
  ASSERT_EQ(answer.rows(), 2U);
  EXPECT_EQ(answer.at(0, "kind"), Value(std::string_view("all-reduce")));
  EXPECT_EQ(answer.at(0, "count"), number(4));
  EXPECT_EQ(answer.at(0, "total_ns"), number(1550));
  EXPECT_EQ(answer.at(0, "mean_ns"), number(388));
  EXPECT_EQ(answer.at(0, "min_ns"), number(100));
  EXPECT_EQ(answer.at(0, "max_ns"), number(900));
  EXPECT_EQ(answer.at(0, "bytes"), number(4 * (3 * 100 + 9000)));
  EXPECT_EQ(answer.at(0, "gb_per_s"), Value(37200.0 / 1550.0));
  EXPECT_EQ(answer.at(0, "percent"), Value(100.0 * 1550 / 1600));
  EXPECT_EQ(answer.at(0, "stream"), number(20));
  EXPECT_EQ(answer.at(1, "kind"), Value(std::string_view("all-gather")));
  EXPECT_EQ(answer.at(1, "count"), number(1));
}

TEST(Collectives, WhatTakesLongerThanTheShortestOfItsSizeWaited) {
  TraceBuilder builder = exchanges();
  const Answer answer("collectives", builder.build());
  // The fourth is alone of its size.
  EXPECT_EQ(answer.at(0, "transfer_ns"), number(300));
  EXPECT_EQ(answer.at(0, "wait_ns"), number(350));
  EXPECT_EQ(answer.at(1, "transfer_ns"), Value());
  EXPECT_EQ(answer.at(1, "wait_ns"), Value());
}

TEST(Collectives, AreSplitBySize) {
  TraceBuilder builder = exchanges();
  const Answer answer("collectives", builder.build(), "size");
  ASSERT_EQ(answer.rows(), 3U);
  EXPECT_EQ(answer.at(0, "mean_bytes"), number(400));
  EXPECT_EQ(answer.at(0, "wait_ns"), number(350));
  EXPECT_EQ(answer.at(1, "mean_bytes"), number(36000));
  EXPECT_EQ(answer.at(1, "wait_ns"), Value());
}

TEST(Collectives, AreThoseOfTheHostWhereNoDeviceCommunicates) {
  TraceBuilder builder;
  builder.op("gloo:all_reduce", 100, 300);
  builder.op("gloo:broadcast", 500, 40);
  const Answer answer("collectives", builder.build());
  ASSERT_EQ(answer.rows(), 2U);
  EXPECT_EQ(answer.at(0, "kind"), Value(std::string_view("all-reduce")));
  EXPECT_EQ(answer.at(0, "bytes"), Value());
  EXPECT_EQ(answer.at(0, "device"), Value());
  EXPECT_EQ(answer.at(1, "kind"), Value(std::string_view("broadcast")));
}

TEST(Collectives, AreTheSelectedOnes) {
  TraceBuilder builder = exchanges();
  const Trace trace = builder.build();
  Selection selection;
  selection.device = 1;
  const Answer answer("collectives", trace, std::string(), selection);
  EXPECT_EQ(answer.rows(), 0U);
}

/// Three calls of this name, the longest of 300 ns, on a thread.
void calls(TraceBuilder& builder, std::string_view name, std::int64_t thread, std::int64_t shortest,
           const Collective& metadata) {
  builder.on_thread(thread);
  for (std::int64_t i = 0; i < 3; ++i)
    builder.op(name, 1000 * i, i == 0 ? shortest : 300).collective(metadata);
}

std::int64_t waited(const Trace& trace) {
  const Answer answer("collectives", trace);
  return answer.rows() == 1 ? answer.number(0, "wait_ns") : -1;
}

TEST(Collectives, AreComparedWithThoseThatAreAlike) {
  constexpr Collective kSmall{.in_elements = 100};
  TraceBuilder names;
  calls(names, "gloo:all_reduce", 11, 300, kSmall);
  calls(names, "c10d::allreduce_", 12, 10, kSmall);
  EXPECT_EQ(waited(names.build()), 2 * 290) << "the call that starts it does not carry it out";

  TraceBuilder builder;
  calls(builder, "nccl:all_reduce", 11, 300, kSmall);
  calls(builder, "nccl:all_reduce", 12, 10, kSmall);
  Trace trace = builder.build();
  EXPECT_EQ(waited(trace), 5 * 290);
  for (Collective& each : trace.collectives) {
    const bool first = each.slice.row() < 3;
    each.group_name = trace.strings.intern(first ? "a node's" : "all");
  }
  EXPECT_EQ(waited(trace), 2 * 290) << "another process group";
  for (Collective& each : trace.collectives) {
    each.group_name = {};
    each.dtype = trace.strings.intern(each.slice.row() < 3 ? "Float" : "Half");
  }
  EXPECT_EQ(waited(trace), 2 * 290) << "half the bytes";
}

TEST(Collectives, OfARankAloneWaitForNobody) {
  TraceBuilder builder;
  calls(builder, "nccl:all_reduce", 11, 10, {.in_elements = 100, .group_size = 1});
  const Answer answer("collectives", builder.build());
  ASSERT_EQ(answer.rows(), 1U);
  EXPECT_EQ(answer.at(0, "wait_ns"), Value());
  EXPECT_EQ(answer.at(0, "transfer_ns"), Value());
}

TEST(Collectives, OfADamagedSizeHaveNone) {
  const auto bytes_of = [](std::int64_t elements) {
    TraceBuilder builder;
    builder.op("nccl:all_reduce", 100, 300).collective({.in_elements = elements});
    Trace trace = builder.build();
    trace.collectives[0].dtype = trace.strings.intern("Float");
    return Answer("collectives", trace).at(0, "bytes");
  };
  EXPECT_EQ(bytes_of(100), number(400));
  EXPECT_EQ(bytes_of(std::numeric_limits<std::int64_t>::max()), Value());
  EXPECT_EQ(bytes_of(-100), Value());
}

TEST(Collectives, OfTensorsWithADamagedShapeHaveNoSize) {
  for (const char* const shape : {"[[1000000000000000000]]", "[[4000000000000000000,9]]"}) {
    TraceBuilder builder;
    builder.op("nccl:all_reduce", 100, 300).shapes(shape).types(R"(["float"])");
    EXPECT_EQ(Answer("collectives", builder.build()).at(0, "bytes"), Value()) << shape;
  }
}

}  // namespace
}  // namespace fathom
