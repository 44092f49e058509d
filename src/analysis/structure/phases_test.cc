// Phases by name, by sequence number, by thread and by module.
#include "analysis/structure/phases.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

Phase phase_in(const Trace& trace, SliceId slice) {
  return compute_phases(trace, compute_nesting(trace))[slice];
}

TEST(Phases, NamesOfTorchTell) {
  const auto op = [](std::string_view name) { return phase_of_name(name, SliceKind::cpu_op); };
  EXPECT_EQ(op("autograd::engine::evaluate_function: AddmmBackward0"), Phase::backward);
  EXPECT_EQ(op("Optimizer.step#SGD.step"), Phase::optimizer);
  EXPECT_EQ(op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), Phase::data);
  EXPECT_EQ(op("c10d::allreduce_"), Phase::communication);
  EXPECT_EQ(op("nccl:all_reduce"), Phase::communication);
  EXPECT_EQ(op("aten::mm"), Phase::other);
  EXPECT_EQ(op("my_forward_op"), Phase::other);
}

TEST(Phases, NamesOfTorchTellInPlainChromeTracesToo) {
  TraceBuilder builder;
  const SliceId fetch =
      builder.slice(SliceKind::other, "enumerate(DataLoader)#_SingleProcess.__next__", 0, 9);
  const SliceId forward = builder.slice(SliceKind::other, "forward", 10, 9);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, fetch), Phase::data);
  EXPECT_EQ(phase_in(trace, forward), Phase::other) << "free text";
}

TEST(Phases, AnnotationsAreReadAsFreeText) {
  const auto note = [](std::string_view name) {
    return phase_of_name(name, SliceKind::user_annotation);
  };
  EXPECT_EQ(note("## Forward ##"), Phase::forward);
  EXPECT_EQ(note("DistributedDataParallel.forward"), Phase::forward);
  EXPECT_EQ(note("Backward Pass"), Phase::backward);
  EXPECT_EQ(note("[pl][profile]optimizer_step"), Phase::optimizer);
  EXPECT_EQ(note("train_dataloader_next"), Phase::data);
  EXPECT_EQ(note("epoch 3"), Phase::other);
}

TEST(Phases, ChildrenInherit) {
  TraceBuilder builder;
  builder.annotation("Optimizer.step#Adam.step", 0, 100);
  builder.op("aten::add_", 10, 50);
  const SliceId call = builder.runtime("cudaLaunchKernel", 20, 10);
  const SliceId after = builder.op("aten::add_", 200, 5);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, call), Phase::optimizer);
  EXPECT_EQ(phase_in(trace, after), Phase::other);
}

TEST(Phases, SequenceNumbersTellForwardFromBackward) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  const SliceId forward = builder.op("aten::mm", 10, 50).sequence(4);
  const SliceId backward = builder.op("MmBackward0", 100, 50).sequence(4, 1);
  const SliceId inner = builder.op("aten::mm", 110, 10).sequence(9);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, forward), Phase::forward);
  EXPECT_EQ(phase_in(trace, backward), Phase::backward);
  EXPECT_EQ(phase_in(trace, inner), Phase::backward);
}

TEST(Phases, CommunicationInBackwardIsCommunication) {
  TraceBuilder builder;
  builder.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 0, 100);
  const SliceId reduce = builder.op("c10d::allreduce_", 10, 50);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, reduce), Phase::communication);
}

TEST(Phases, RootsOfAnAutogradThreadAreBackward) {
  TraceBuilder builder;
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: AddBackward0", 0, 100);
  const SliceId hook = builder.op("aten::div_", 200, 10);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, hook), Phase::backward);
}

TEST(Phases, RootsOfAThreadThatDoesMoreStayOther) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10).sequence(1);
  builder.op("autograd::engine::evaluate_function: AddBackward0", 20, 100);
  const SliceId other = builder.op("aten::item", 200, 10);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, other), Phase::other);
}

TEST(Phases, WhatRunsInAModuleIsForward) {
  TraceBuilder builder;
  builder.frame("nn.Module: Net_0", 0, 100);
  const SliceId inside = builder.op("aten::relu", 10, 10);
  const SliceId outside = builder.op("aten::relu", 110, 10);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, inside), Phase::forward);
  EXPECT_EQ(phase_in(trace, outside), Phase::other);
}

TEST(Phases, CollectiveMetadataTells) {
  TraceBuilder builder;
  const SliceId op = builder.op("my_all_reduce", 0, 10).collective({});
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, op), Phase::communication);
}

/// Two steps as torch 1.8 records them: no sequence numbers, the backward pass on a thread of its
/// own, `updates` after it.
struct OldSteps {
  SliceId forward, zeroed, loss, first_update, last_update;
};
OldSteps add_old_steps(TraceBuilder& builder, std::int64_t updates, bool annotated) {
  OldSteps made;
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t at = i * 1000;
    builder.annotation("ProfilerStep#" + std::to_string(i), at, 1000);
    made.forward = builder.op("aten::conv2d", at + 10, 20);
    builder.op("aten::convolution", at + 12, 10);
    made.zeroed = builder.op("aten::zero_", at + 40, 5);
    made.loss = builder.op("aten::nll_loss", at + 50, 5);
    builder.on_thread(2);
    for (std::int64_t gradient = 0; gradient < 4; ++gradient)
      builder.op("torch::autograd::AccumulateGrad", at + 100 + gradient * 10, 8);
    builder.on_thread(1);
    if (annotated) builder.annotation("Optimizer.step#SGD.step", at + 200, 400);
    for (std::int64_t update = 0; update < updates; ++update) {
      builder.op("aten::mul", at + 200 + update * 20, 5);
      const SliceId slice = builder.op("aten::sub_", at + 210 + update * 20, 5);
      if (update == 0) made.first_update = slice;
      made.last_update = slice;
    }
  }
  return made;
}

TEST(Phases, WithoutSequenceNumbersWhatIsCalledBeforeTheBackwardPassIsForward) {
  TraceBuilder builder;
  const OldSteps made = add_old_steps(builder, 4, true);
  const Trace trace = builder.build();
  const Phases phases = compute_phases(trace, compute_nesting(trace));
  EXPECT_EQ(phases[made.forward], Phase::forward);
  EXPECT_EQ(phases[made.loss], Phase::forward);
  EXPECT_EQ(phases[made.zeroed], Phase::other);
  EXPECT_EQ(phases[made.last_update], Phase::optimizer);
  EXPECT_EQ(phases.evidence[static_cast<std::size_t>(PhaseEvidence::call_order)], 4U);
  EXPECT_EQ(phases.evidence[static_cast<std::size_t>(PhaseEvidence::updates)], 0U);
}

TEST(Phases, UpdatesInPlaceAfterTheBackwardPassAreAnOptimizer) {
  TraceBuilder builder;
  const OldSteps made = add_old_steps(builder, 4, false);
  const Trace trace = builder.build();
  const Phases phases = compute_phases(trace, compute_nesting(trace));
  EXPECT_EQ(phases[made.first_update], Phase::optimizer);
  EXPECT_EQ(phases[made.last_update], Phase::optimizer);
  EXPECT_EQ(phases[made.forward], Phase::forward);
  EXPECT_EQ(phases.evidence[static_cast<std::size_t>(PhaseEvidence::updates)], 16U);
}

TEST(Phases, FewerUpdatesThanGradientsAreNoOptimizer) {
  TraceBuilder builder;
  const OldSteps made = add_old_steps(builder, 3, false);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, made.first_update), Phase::other);
}

TEST(Phases, WhatRunsWhileACollectiveIsUnderWayIsNoPartOfIt) {
  TraceBuilder builder;
  builder.annotation("hccl:all_to_all", 0, 1000);  // asynchronous: lasts until it is done
  builder.annotation("## forward ##", 10, 500);
  const SliceId forward = builder.op("aten::mm", 20, 100);
  const SliceId other = builder.op("aten::zeros", 600, 100);
  const SliceId own = builder.op("c10d::alltoall_base_", 800, 100);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, forward), Phase::forward);
  EXPECT_EQ(phase_in(trace, other), Phase::other);
  EXPECT_EQ(phase_in(trace, own), Phase::communication);
}

TEST(Phases, TheForwardPassOfAClosureIsNotTheOptimizers) {
  TraceBuilder builder;
  builder.annotation("Optimizer.step#LBFGS.step", 0, 1000);
  builder.annotation("Optimizer.zero_grad#LBFGS.zero_grad", 5, 10);
  const SliceId forward = builder.op("aten::linear", 20, 100).sequence(7);
  const SliceId inside = builder.op("aten::addmm", 30, 50);
  const SliceId backward =
      builder.op("autograd::engine::evaluate_function: AddmmBackward0", 200, 200);
  const SliceId update = builder.op("aten::dot", 600, 100);
  // Without a closure, sequence numbers only show that gradients were not switched off.
  builder.annotation("Optimizer.step#Mine.step", 2000, 1000);
  const SliceId own = builder.op("aten::mul", 2100, 100).sequence(8);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, forward), Phase::forward);
  EXPECT_EQ(phase_in(trace, inside), Phase::forward);
  EXPECT_EQ(phase_in(trace, backward), Phase::backward);
  EXPECT_EQ(phase_in(trace, update), Phase::optimizer);
  EXPECT_EQ(phase_in(trace, own), Phase::optimizer);
}

TEST(Phases, TheInnermostRangeTellsTheClosureOfAnOptimizerStepApart) {
  TraceBuilder builder;
  builder.annotation("Optimizer.step#Adam.step", 0, 1000);
  builder.annotation("[pl][profile][Strategy]SingleDeviceStrategy.training_step", 10, 400);
  const SliceId forward = builder.op("aten::linear", 20, 100).sequence(7);
  const SliceId update = builder.op("aten::add_", 600, 100);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, forward), Phase::forward);
  EXPECT_EQ(phase_in(trace, update), Phase::optimizer);
}

/// A step whose program changes its input, runs a model of two operators, and keeps an average of
/// it: autograd numbers them all, and the backward pass has two nodes.
struct TrainingStep {
  SliceId drawn, frozen, first, printed, average, checked;
};
TrainingStep add_training_step(TraceBuilder& builder, std::int64_t at, std::int64_t number) {
  TrainingStep made;
  builder.annotation("ProfilerStep#" + std::to_string(at / 1000), at, 1000);
  builder.annotation("augment", at + 10, 200);
  made.drawn = builder.op("aten::mul", at + 20, 100).sequence(number);
  builder.op("aten::to", at + 130, 50);
  made.frozen = builder.op("aten::conv2d", at + 220, 20).sequence(number);
  made.first = builder.op("aten::linear", at + 250, 20).sequence(number);
  builder.op("aten::mse_loss", at + 280, 20).sequence(number + 1);
  builder.annotation("log", at + 310, 30);
  made.printed = builder.op("aten::item", at + 315, 5).sequence(number + 2);
  builder.op("autograd::engine::evaluate_function: MseLossBackward0", at + 350, 50)
      .sequence(number + 1, 1);
  builder.op("autograd::engine::evaluate_function: LinearBackward0", at + 410, 50)
      .sequence(number, 1);
  builder.annotation("Optimizer.step#SGD.step", at + 500, 100);
  builder.annotation("ema", at + 620, 100);
  made.average = builder.op("aten::lerp_", at + 630, 50).sequence(number + 2);
  made.checked = builder.op("aten::argmax", at + 800, 50).sequence(number + 2);
  return made;
}

TEST(Phases, ARangeThatMakesNoNodeIsAPartOfItsOwn) {
  TraceBuilder builder;
  add_training_step(builder, 0, 7);
  const TrainingStep made = add_training_step(builder, 1000, 9);
  const Trace trace = builder.build();
  const Phases phases = compute_phases(trace, compute_nesting(trace));
  EXPECT_EQ(phases[made.drawn], Phase::other);
  ASSERT_NE(phases.range(made.drawn), Phases::kNoRange);
  EXPECT_EQ(trace.text(phases.ranges[phases.range(made.drawn)].name), "augment");
  EXPECT_EQ(phases[made.average], Phase::other);
  ASSERT_NE(phases.range(made.average), Phases::kNoRange);
  EXPECT_EQ(trace.text(phases.ranges[phases.range(made.average)].name), "ema");
  ASSERT_EQ(phases.ranges.size(), 2U);
  EXPECT_TRUE(phases.ranges[0].before);
  EXPECT_FALSE(phases.ranges[1].before);
}

TEST(Phases, WhatRunsAfterTheBackwardPassIsNotForward) {
  TraceBuilder builder;
  const TrainingStep made = add_training_step(builder, 0, 7);
  add_training_step(builder, 1000, 9);
  const Trace trace = builder.build();
  const Phases phases = compute_phases(trace, compute_nesting(trace));
  EXPECT_EQ(phases[made.checked], Phase::other);
  EXPECT_EQ(phases.range(made.checked), Phases::kNoRange);
}

TEST(Phases, LayersThatAreNotTrainedAndRangesInsideAForwardPassStayForward) {
  TraceBuilder builder;
  const TrainingStep made = add_training_step(builder, 0, 7);
  add_training_step(builder, 1000, 9);
  const Trace trace = builder.build();
  const Phases phases = compute_phases(trace, compute_nesting(trace));
  EXPECT_EQ(phases[made.frozen], Phase::forward);
  EXPECT_EQ(phases[made.first], Phase::forward);
  EXPECT_EQ(phases[made.printed], Phase::forward);
  EXPECT_EQ(phases.range(made.printed), Phases::kNoRange);
}

TEST(Phases, ARangeWithoutABackwardPassInItsStepStaysForward) {
  TraceBuilder builder;
  add_training_step(builder, 0, 7);
  builder.annotation("ProfilerStep#1", 1000, 1000);
  builder.annotation("validate", 1010, 200);
  const SliceId validated = builder.op("aten::linear", 1020, 100).sequence(9);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, validated), Phase::forward);
}

TEST(Phases, AModuleThatRunsAfterTheBackwardPassStaysForward) {
  TraceBuilder builder;
  add_training_step(builder, 0, 7);
  builder.frame("nn.Module: Net_0", 860, 100);
  const SliceId evaluated = builder.op("aten::linear", 870, 50).sequence(9);
  add_training_step(builder, 1000, 9);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, evaluated), Phase::forward);
}

TEST(Phases, BetweenTwoBackwardPassesOfAStepOnlyRangesAreApart) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  const auto pass = [&](std::int64_t at, std::int64_t number) {
    builder.op("aten::linear", at, 20).sequence(number);
    builder.op("autograd::engine::evaluate_function: LinearBackward0", at + 50, 50)
        .sequence(number, 1);
  };
  pass(0, 7);
  builder.annotation("draw", 200, 100);
  const SliceId drawn = builder.op("aten::mul", 210, 50).sequence(8);
  const SliceId frozen = builder.op("aten::mul", 310, 50).sequence(8);
  pass(400, 8);
  const SliceId last = builder.op("aten::mul", 600, 50).sequence(9);
  const Trace trace = builder.build();
  EXPECT_EQ(phase_in(trace, drawn), Phase::other);
  EXPECT_EQ(phase_in(trace, frozen), Phase::forward);
  EXPECT_EQ(phase_in(trace, last), Phase::other);
}

}  // namespace
}  // namespace fathom
