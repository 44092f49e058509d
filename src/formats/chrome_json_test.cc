// The reader of Chrome traces: dialects, damage, and pieces cut in the wrong place.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/format.h"

namespace fathom {

Format chrome_json();

namespace {

Result<Trace> read(const std::string& text, unsigned threads = 1) {
  Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(text)));
  if (!source) return std::move(source).error();
  return chrome_json().read(**source, {.threads = threads});
}

Trace read_or_fail(const std::string& text, unsigned threads = 1) {
  Result<Trace> trace = read(text, threads);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace ? std::move(*trace) : Trace();
}

std::string events(const std::string& list) { return "{\"traceEvents\": [" + list + "]}"; }

std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> all;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    all.emplace_back(trace.name(SliceId(row)));
  return all;
}

const std::string kOp =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 100, "dur": 5})";

std::string two_around(const std::string& other) { return kOp + ", " + other + ", " + kOp; }

TEST(ChromeJson, ReadsCopiesOfIntelsDevicesWithTheirMemory) {
  struct Case {
    std::string name;
    CopyKind kind;
    MemoryKind source;
    MemoryKind destination;
  };
  const std::vector<Case> cases = {
      {"Memcpy M2D (MEMORY -> DEVICE)", CopyKind::h2d, MemoryKind::pageable, MemoryKind::device},
      {"Memcpy H2D (HOST -> DEVICE)", CopyKind::h2d, MemoryKind::pinned, MemoryKind::device},
      {"Memcpy D2H (DEVICE -> HOST)", CopyKind::d2h, MemoryKind::device, MemoryKind::pinned},
      {"Memcpy D2D - P2P (DEVICE -> DEVICE)", CopyKind::p2p, MemoryKind::device,
       MemoryKind::device},
      {"Memcpy HtoD (Pinned -> Device)", CopyKind::h2d, MemoryKind::pinned, MemoryKind::device},
  };
  for (const Case& each : cases) {
    const Trace trace = read_or_fail(events(
        R"({"ph": "X", "cat": "gpu_memcpy", "pid": 0, "tid": 64, "ts": 1, "dur": 5, "args": {"device": 0},
            "name": ")" +
        each.name + "\"}"));
    ASSERT_EQ(trace.copies.size(), 1U);
    EXPECT_EQ(trace.copies.kind[0], each.kind) << each.name;
    EXPECT_EQ(trace.copies.source[0], each.source) << each.name;
    EXPECT_EQ(trace.copies.destination[0], each.destination) << each.name;
  }
}

TEST(ChromeJson, TellsTheProgramsOwnRangesFromOperatorsOfTheOldCategory) {
  const auto kind_of = [](const std::string& name, const std::string& category = "Operator") {
    const auto event = [&](const std::string& called) {
      return R"({"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 5, "cat": ")" + category +
             R"(", "name": ")" + called + "\"}";
    };
    const Trace trace = read_or_fail(events(event(name) + ", " + event("MyFunctionBackward")));
    return trace.kind(SliceId(0));
  };
  for (const std::string range : {"forward", "## load ##", "my_block", "evaluate 3"})
    EXPECT_EQ(kind_of(range), SliceKind::user_annotation) << range;
  for (const std::string op :
       {"aten::add", "AddBackward0", "MyFunction", "detach_", "nccl:all_reduce",
        "torch::autograd::AccumulateGrad", "fused_add_mul"})
    EXPECT_EQ(kind_of(op), SliceKind::cpu_op) << op;
  EXPECT_EQ(kind_of("forward", "cpu_op"), SliceKind::cpu_op);
}

TEST(ChromeJson, ReadsAnOperatorWithItsArguments) {
  const Trace trace = read_or_fail(events(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 11, "tid": 12, "ts": 100.5, "dur": 5.25,
          "args": {"External id": 7, "Sequence number": 3, "Fwd thread id": 1,
                   "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}})"));
  ASSERT_EQ(trace.slices.size(), 1U);
  EXPECT_EQ(trace.name(SliceId(0)), "aten::mm");
  EXPECT_EQ(trace.kind(SliceId(0)), SliceKind::cpu_op);
  EXPECT_EQ(trace.origin_ns, 100500);
  EXPECT_EQ(trace.slices.start[0], time_ns(0));
  EXPECT_EQ(trace.slices.duration[0], duration_ns(5250));
  EXPECT_EQ(trace.slices.external_id[0], 7);
  EXPECT_EQ(trace.slices.correlation[0], kAbsent);
  ASSERT_EQ(trace.ops.size(), 1U);
  EXPECT_EQ(trace.ops.sequence[0], 3);
  EXPECT_EQ(trace.ops.forward_thread[0], 1);
  EXPECT_EQ(trace.text(trace.signatures[trace.ops.signature[0].row()].shapes), "[[2,3],[3,4]]");
  EXPECT_EQ(trace.track(SliceId(0)).pid, 11);
  EXPECT_EQ(trace.track(SliceId(0)).tid, 12);
  EXPECT_EQ(trace.import.total(), 0U);
}

TEST(ChromeJson, KeepsTheKindsOfSlicesWhereThereAreMoreCategoriesThanRows) {
  std::string list;
  const auto add = [&list](const std::string& category, const std::string& pid, int start) {
    list += list.empty() ? "" : ",";
    list += R"({"ph": "X", "cat": ")" + category + R"(", "name": "n", "tid": 1, "dur": 1, "pid": )";
    list += pid + R"(, "ts": )" + std::to_string(start) + R"(, "args": {"grid": [1, 1, 1]}})";
  };
  for (int i = 0; i < 300; ++i) add("mine" + std::to_string(i), "1", i);
  add("Cpu_Op", "1", 300);
  add("Kernel", "0", 301);
  const Trace trace = read_or_fail(events(list));
  ASSERT_EQ(trace.slices.size(), 302U);
  EXPECT_EQ(trace.kind(SliceId(0)), SliceKind::other);
  EXPECT_EQ(trace.kind(SliceId(299)), SliceKind::other);
  EXPECT_EQ(trace.kind(SliceId(300)), SliceKind::cpu_op);
  EXPECT_EQ(trace.kind(SliceId(301)), SliceKind::kernel);
  EXPECT_EQ(trace.categories.size(), 3U);
  EXPECT_EQ(trace.import.unknown().at("categories, more than can be distinguished"), 300U);
}

TEST(ChromeJson, ReadsAKernelOfOldAndNewSpelling) {
  for (const char* const category : {"Kernel", "kernel"}) {
    const Trace trace = read_or_fail(events(
        std::string(R"({"ph": "X", "cat": ")") + category +
        R"(", "name": "sgemm", "pid": 3, "tid": "stream 7", "ts": 1, "dur": 2, "args": {"device": 3, "stream": 7,
           "correlation": 42, "external id": 5, "registers per thread": 72, "shared memory": 13824,
           "blocks per SM": 0.025, "warps per SM": 0.1, "grid": [1, 2, 1], "block": [128, 1, 1],
           "est. achieved occupancy %": 5, "graph node id": 9}})"));
    ASSERT_EQ(trace.kernels.size(), 1U);
    const LaunchConfig& config = trace.launch_configs[trace.kernels.config[0].row()];
    EXPECT_EQ(config.grid[1], 2);
    EXPECT_EQ(config.block[0], 128);
    EXPECT_EQ(config.registers, 72);
    EXPECT_EQ(config.shared_memory, 13824);
    EXPECT_EQ(config.blocks_per_sm, 0.025);
    EXPECT_EQ(trace.kernels.graph_node[0], 9);
    EXPECT_EQ(trace.slices.correlation[0], 42);
    EXPECT_EQ(trace.slices.external_id[0], 5);
    EXPECT_EQ(trace.track(SliceId(0)).kind, TrackKind::device_stream);
    EXPECT_EQ(trace.track(SliceId(0)).device, 3);
    EXPECT_EQ(trace.track(SliceId(0)).stream, 7);
  }
}

TEST(ChromeJson, KeepsAHostThreadAndAStreamOfTheSameNumbersApart) {
  const Trace trace = read_or_fail(events(
      R"({"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 7, "ts": 1, "dur": 2},
         {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1, "dur": 2},
         {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 2, "tid": 7, "ts": 1, "dur": 2})"));
  EXPECT_EQ(trace.tracks.size(), 3U);
}

TEST(ChromeJson, FindsTheEventsWhereverTheyAre) {
  for (const std::string& text :
       {"[" + kOp + "]", "[" + kOp,
        "{\"a\": {\"traceEvents\": 1}, \"traceEvents\": [" + kOp + "], \"z\": 1}",
        "{\"traceEvents\":[" + kOp + "],\"deviceProperties\":[]}",
        "{\"wrapper\": {\"x\": [1], \"traceEvents\": [" + kOp + "]}}",
        "\xef\xbb\xbf" + events(kOp)}) {
    EXPECT_EQ(read_or_fail(text).slices.size(), 1U) << text;
  }
}

TEST(ChromeJson, KeepsTheOtherKeysAsFacts) {
  const Trace trace = read_or_fail(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100", "numSms": 132}],
          "traceEvents": [)" +
      kOp + R"(], "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
          "baseTimeNanoseconds": 1000000000000000000})");
  EXPECT_EQ(trace.fact("schemaVersion")->value, "1");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].sms, 132);
  EXPECT_EQ(trace.distributed->rank, 3);
  EXPECT_EQ(trace.origin_ns, 1000000000000100000);
  EXPECT_TRUE(trace.origin_is_unix);
}

TEST(ChromeJson, FactsBesideWrappedEventsAreKept) {
  const Trace trace = read_or_fail(R"({"wrapper": {"schemaVersion": 2, "traceEvents": [)" + kOp +
                                   R"(], "after": "x"}})");
  ASSERT_NE(trace.fact("schemaVersion"), nullptr);
  ASSERT_NE(trace.fact("after"), nullptr);
}

TEST(ChromeJson, PairsBeginAndEnd) {
  const Trace trace = read_or_fail(events(
      R"({"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 10}, {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 12},
         {"ph": "E", "pid": 1, "tid": 1, "ts": 15}, {"ph": "E", "pid": 1, "tid": 1, "ts": 20},
         {"ph": "E", "pid": 1, "tid": 1, "ts": 21}, {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 30},
         {"ph": "B", "name": "child", "pid": 1, "tid": 1, "ts": 40})"));
  ASSERT_EQ(trace.slices.size(), 4U);
  EXPECT_EQ(trace.slices.duration[0], duration_ns(10000));
  EXPECT_EQ(trace.slices.duration[1], duration_ns(3000));
  EXPECT_EQ(trace.slices.duration[2], duration_ns(10000));
  EXPECT_EQ(trace.import[Repair::unmatched_end].count, 1U);
  EXPECT_EQ(trace.import[Repair::unmatched_begin].count, 2U);
}

TEST(ChromeJson, PairsAsyncEventsByCategoryAndId) {
  const Trace trace = read_or_fail(events(
      R"({"ph": "b", "cat": "r", "id": "0x1", "name": "one", "pid": 1, "tid": 1, "ts": 10},
         {"ph": "b", "cat": "r", "id": "0x2", "name": "two", "pid": 1, "tid": 1, "ts": 11},
         {"ph": "e", "cat": "r", "id": "0x1", "name": "one", "pid": 1, "tid": 1, "ts": 20},
         {"ph": "e", "cat": "r", "id": "0x2", "name": "two", "pid": 1, "tid": 1, "ts": 30})"));
  ASSERT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.slices.duration[0], duration_ns(10000));
  EXPECT_EQ(trace.slices.duration[1], duration_ns(19000));
  EXPECT_EQ(trace.track(SliceId(0)).kind, TrackKind::async);
}

TEST(ChromeJson, ReadsCountersMemoryFlowsAndInstants) {
  const Trace trace = read_or_fail(events(
      R"({"ph": "C", "name": "GPU", "pid": 0, "ts": 5, "args": {"Utilization": 0.5, "bytes": 12, "text": "x"}},
         {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 6,
          "args": {"Total Allocated": 100, "Bytes": -8, "Addr": 139827601211392, "Device Id": 0, "Device Type": 1}},
         {"ph": "s", "id": 3, "pid": 1, "tid": 2, "ts": 7, "cat": "ac2g", "name": "ac2g"},
         {"ph": "f", "id": 3, "pid": 0, "tid": 7, "ts": 8, "cat": "ac2g", "name": "ac2g", "bp": "e"},
         {"ph": "i", "name": "Record Window End", "s": "g", "pid": "", "tid": "", "ts": 9})"));
  ASSERT_EQ(trace.samples.size(), 2U);
  EXPECT_EQ(trace.samples.value[0], 0.5);
  EXPECT_EQ(trace.text(trace.tracks[trace.samples.track[0].row()].thread), "GPU Utilization");
  ASSERT_EQ(trace.memory.size(), 1U);
  EXPECT_EQ(trace.memory.bytes[0], -8);
  EXPECT_EQ(trace.memory.device_type[0], 1);
  ASSERT_EQ(trace.flows.size(), 2U);
  EXPECT_EQ(trace.flows.phase[1], FlowPhase::finish);
  EXPECT_EQ(trace.instants.size(), 1U);
}

TEST(ChromeJson, NamesTracksAndProcesses) {
  const Trace trace = read_or_fail(events(
      kOp +
      R"x(, {"name": "process_name", "ph": "M", "ts": 0, "pid": 1, "tid": 0, "args": {"name": "python3"}},
          {"name": "thread_name", "ph": "M", "ts": 0, "pid": 1, "tid": 2, "args": {"name": "thread 2 (python3)"}},
          {"name": "thread_sort_index", "ph": "M", "ts": 0, "pid": 1, "tid": 2, "args": {"sort_index": 5}})x"));
  ASSERT_EQ(trace.tracks.size(), 1U);
  EXPECT_EQ(trace.text(trace.tracks[0].name), "thread 2 (python3)");
  EXPECT_EQ(trace.tracks[0].sort_index, 5);
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.text(trace.processes[0].name), "python3");
}

TEST(ChromeJson, CountsEachRepairWithItsPlace) {
  struct Case {
    Repair repair;
    std::string list;
    std::size_t slices;
  };
  const std::string name_of =
      R"({"ph": "X", "cat": "c", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "name": )";
  for (const Case& c : std::vector<Case>{
           {Repair::trailing_comma, kOp + ",", 1},
           {Repair::missing_comma, kOp + kOp, 2},
           {Repair::invalid_escape, name_of + R"("C:\Users\x"})", 1},
           {Repair::control_character, name_of + "\"a\nb\"}", 1},
           {Repair::invalid_utf8, name_of + "\"a\xff\"}", 1},
           {Repair::unescaped_quote, name_of + R"("say "hi" twice"})", 1},
           {Repair::not_a_number,
            R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": NaN})", 1},
           {Repair::duplicate_key,
            R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "dur": 2})", 1},
           {Repair::absurd_duration,
            R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": 1000000000000000})", 1},
           {Repair::negative_duration,
            R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": -3})", 1},
           {Repair::missing_time, R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "dur": 3})", 0},
           {Repair::malformed_event, two_around(R"({"ph": "X", :::})"), 2},
           {Repair::unknown_phase, R"({"ph": "?", "name": "n", "pid": 1, "tid": 1, "ts": 5})",
            0}}) {
    const Trace trace = read_or_fail(events(c.list));
    EXPECT_EQ(trace.import[c.repair].count, 1U) << info(c.repair).id;
    EXPECT_GE(trace.import[c.repair].first_offset, 16U) << info(c.repair).id;
    EXPECT_EQ(trace.slices.size(), c.slices) << info(c.repair).id;
  }
}

TEST(ChromeJson, DropsEventsWhoseTimeWasLost) {
  const std::string late =
      R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 1623142623606173, "dur": 1})";
  const std::string lost = R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 0, "dur": 0})";
  const Trace trace = read_or_fail(events(late + "," + lost + "," + lost + "," + late));
  EXPECT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.import[Repair::zero_time].count, 2U);
  EXPECT_EQ(trace.span.length(), duration_ns(1000));
}

TEST(ChromeJson, SaysWhenTheEndIsMissing) {
  EXPECT_EQ(read_or_fail("{\"traceEvents\": [" + kOp).import[Repair::missing_close].count, 1U);
  EXPECT_EQ(read_or_fail("{\"traceEvents\": [" + kOp + ", {\"ph\": \"X\", \"na")
                .import[Repair::truncated]
                .count,
            1U);
  EXPECT_EQ(read_or_fail(events(kOp) + " rest").import[Repair::trailing_garbage].count, 1U);
}

TEST(ChromeJson, IsNotATraceWithoutEvents) {
  EXPECT_FALSE(read("{\"a\": 1}").ok());
  EXPECT_FALSE(read("").ok());
  EXPECT_TRUE(read("{\"traceEvents\": []}").ok());
}

/// Many events, some holding text that looks like the border between two events.
std::string tricky_list(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    if (i > 0) list += ",\n  ";
    list +=
        R"({"ph": "X", "cat": "cpu_op", "name": "op)" + std::to_string(i % 97) +
        R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(1000 + i * 10) +
        R"(, "dur": 5, "args": {"list": [{"a": 1}, {"b": "}, {\"ph\": \"X\"" }, {"c": 2}], "text": "x}, {\"y\": 1}, {\"z\":\"" }})";
  }
  return list;
}

TEST(ChromeJson, WrongCutsCostNothingButTime) {
  const std::string text = events(tricky_list(20000));
  const Trace one = read_or_fail(text, 1);
  const Trace many = read_or_fail(text, 4);
  EXPECT_EQ(one.slices.size(), 20000U);
  EXPECT_EQ(one.import.total(), 0U);
  EXPECT_EQ(many.import.total(), 0U);
  EXPECT_EQ(names(one), names(many));
}

TEST(ChromeJson, AnEventMayBeLongerThanAPiece) {
  const std::string big =
      R"({"ph": "X", "cat": "cpu_op", "name": "big", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"x": ")" +
      std::string(3'000'000, 'a') + "\"}}";
  const Trace trace = read_or_fail(events(kOp + "," + big + "," + kOp), 3);
  EXPECT_EQ(names(trace), (std::vector<std::string>{"aten::mm", "big", "aten::mm"}));
}

}  // namespace
}  // namespace fathom
