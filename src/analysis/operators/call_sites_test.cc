#include "analysis/operators/call_sites.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

TEST(CodePlace, IsTheFileTheLineAndTheFunctionOfAFrame) {
  const CodePlace place = parse_place("/home/me/train.py(42): main");
  EXPECT_EQ(place.file, "/home/me/train.py");
  EXPECT_EQ(place.line, "42");
  EXPECT_EQ(place.function, "main");
  EXPECT_EQ(parse_place("C:\\work (old)\\a.py(7): f(x)").line, "7");
}

TEST(CodePlace, IsNothingForFramesWithoutAFile) {
  for (const char* frame :
       {"<built-in method item>", "nn.Module: Linear_0", "", "(3): f", "a(): g"}) {
    EXPECT_FALSE(parse_place(frame).valid()) << frame;
  }
}

TEST(CodePlace, TellsTheUsersCodeFromLibraries) {
  EXPECT_TRUE(is_user_code(parse_place("train.py(42): main")));
  EXPECT_TRUE(is_user_code(parse_place("vllm/worker.py(7): step")));
  EXPECT_FALSE(is_user_code(parse_place("torch/nn/modules/module.py(1951): _call_impl")));
  EXPECT_FALSE(is_user_code(parse_place("numpy/fft/_pocketfft.py(58): _raw_fft")));
  EXPECT_TRUE(is_user_code(parse_place("lessons/numpy/first.py(58): filter")));
  EXPECT_FALSE(is_user_code(parse_place("random.py(284): randrange")));
  EXPECT_FALSE(is_user_code(parse_place("collections/__init__.py(600): update")));
  EXPECT_TRUE(is_user_code(parse_place("games/random.py(12): play")));
  EXPECT_FALSE(is_user_code(parse_place("/usr/lib/python3.11/threading.py(9): run")));
  EXPECT_FALSE(is_user_code(parse_place("<frozen runpy>(88): _run_code")));
  EXPECT_FALSE(is_user_code(parse_place("run/hook/fathom_recorder/torch_calls.py(78): step")));
}

struct Recording {
  explicit Recording(TraceBuilder& builder) : trace(builder.build()), analyses(trace) {}
  [[nodiscard]] Context context() const {
    return {.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  }
  Trace trace;
  Analyses analyses;
};

TEST(CallSites, GiveTheInnermostFrameOfTheUser) {
  TraceBuilder builder;
  builder.frame("train.py(3): main", 0, 100);
  builder.frame("train.py(9): loss", 10, 50);
  builder.frame("torch/functional.py(5): norm", 12, 40);
  const SliceId op = builder.op("aten::norm", 15, 30);
  const Recording recording(builder);
  const CallSites sites(recording.context());
  EXPECT_EQ(sites.of(op), "train.py:9");
  EXPECT_EQ(recording.trace.name(sites.frame(op)), "train.py(9): loss");
}

TEST(CallSites, HaveNoLineOfAFunctionThatRanWhenRecordingBegan) {
  TraceBuilder builder;
  builder.frame("train.py(114): <module>", 0, 1000);
  builder.frame("train.py(99): main", 1, 990);
  builder.frame("torch/profiler/profiler.py(639): step", 2, 50);
  builder.frame("torch/autograd/profiler.py(296): _start_trace", 3, 40);
  const SliceId in_main = builder.op("aten::mm", 100, 10);
  builder.frame("train.py(12): train_step", 200, 100);
  const SliceId in_step = builder.op("aten::mm", 210, 10);
  const SliceId in_module = builder.op("aten::mm", 995, 2);
  const Recording recording(builder);
  const CallSites sites(recording.context());
  EXPECT_EQ(sites.of(in_main), "train.py (main)");
  EXPECT_EQ(sites.of(in_step), "train.py:12");
  EXPECT_EQ(sites.of(in_module), "train.py");
}

TEST(CallSites, TakeTheRecordedLineBeforeTheFunctionAround) {
  TraceBuilder builder;
  const SliceId frame = builder.frame("train.py(3): main", 0, 100);
  builder.line("/home/me/train.py:7 main", 0, 40);
  builder.line("/home/me/train.py:8 main", 40, 20);
  const SliceId first = builder.op("aten::norm", 15, 10);
  const SliceId second = builder.op("aten::add", 45, 10).stack("model.py(31): forward");
  const SliceId outside = builder.op("aten::mul", 70, 10);
  const Recording recording(builder);
  const CallSites sites(recording.context());
  EXPECT_EQ(sites.of(first), "/home/me/train.py:7");
  EXPECT_EQ(sites.of(second), "/home/me/train.py:8");
  EXPECT_EQ(sites.of(outside), "train.py:3");
  EXPECT_EQ(sites.of(frame), "train.py:3");
}

TEST(CallSites, OfTheBackwardPassAreTheLinesOfItsForwardOperators) {
  TraceBuilder builder;
  builder.line("/home/me/train.py:7 main", 0, 40);
  builder.line("/home/me/train.py:8 main", 40, 60);
  builder.op("aten::mm", 10, 10).sequence(5);
  builder.on_thread(2);
  const SliceId node =
      builder.op("autograd::engine::evaluate_function: MmBackward0", 50, 20).sequence(5, 1);
  const SliceId other = builder.op("aten::add_", 80, 5);
  const Recording recording(builder);
  const CallSites sites(recording.context());
  EXPECT_EQ(sites.of(node), "/home/me/train.py:7");
  EXPECT_EQ(sites.of(other), "/home/me/train.py:8");
}

TEST(CallSites, FallBackToTheRecordedStackOfTheOperatorsAround) {
  TraceBuilder builder;
  builder.op("aten::linear", 0, 100).stack("torch/nn/linear.py(5): forward;model.py(31): forward");
  const SliceId inner = builder.op("aten::addmm", 10, 50);
  const Recording recording(builder);
  EXPECT_EQ(CallSites(recording.context()).of(inner), "model.py:31");
}

TEST(CallSites, OfOneStackAreTheSameEachTime) {
  TraceBuilder builder;
  const std::string users = "torch/nn/linear.py(5): forward;model.py(31): forward;main.py(2): run";
  const SliceId first = builder.op("aten::mm", 0, 10).stack(users);
  const SliceId second = builder.op("aten::add", 20, 10).stack(users);
  const SliceId foreign = builder.op("aten::mul", 40, 10).stack("torch/nn/linear.py(5): forward");
  const Recording recording(builder);
  const CallSites sites(recording.context());
  for (int asked = 0; asked < 2; ++asked) {
    EXPECT_EQ(sites.of(first), "model.py:31");
    EXPECT_EQ(sites.of(second), "model.py:31");
    EXPECT_EQ(sites.of(foreign), "");
  }
}

TEST(CallSites, OfABackwardOperatorAreWhereItsForwardOperatorWasCalled) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10).sequence(7).stack("model.py(31): forward");
  builder.on_thread(2);
  const SliceId backward = builder.op("MmBackward0", 50, 10).sequence(7, 1);
  const Recording recording(builder);
  EXPECT_EQ(CallSites(recording.context()).of(backward), "model.py:31");
}

TEST(CallSites, AreEmptyWhereNothingWasRecorded) {
  TraceBuilder builder;
  const SliceId op = builder.op("aten::mm", 0, 10);
  const Recording recording(builder);
  const CallSites sites(recording.context());
  EXPECT_EQ(sites.of(op), "");
  EXPECT_EQ(sites.of(SliceId()), "");
  EXPECT_FALSE(sites.frame(op).valid());
}

}  // namespace
}  // namespace fathom
