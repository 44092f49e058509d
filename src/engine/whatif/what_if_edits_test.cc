// Each change on a trace where its effect can be counted by hand; times after it come from
// what_if().
#include "engine/whatif/what_if_edits.h"

#include <gtest/gtest.h>

#include "analysis/roofline/device_specs.h"
#include "engine/whatif/kept_edits.h"
#include "engine/whatif/what_if.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Launches a kernel 10 after the call.
void launch(TraceBuilder& builder, std::int64_t at, std::int64_t duration, std::int64_t id,
            std::string_view name = "gemm") {
  builder.runtime("cudaLaunchKernel", at, 5, id);
  builder.kernel(name, at + 10, duration, id);
}

/// Three steps: fetch 200, a product of 300, a read that waits for it, an elementwise pair.
Trace training() {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t at = step * 1000;
    const std::int64_t id = step * 10;
    builder.step(step + 1, at, 1000);
    builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 200);
    builder.op("aten::mm", at + 210, 50).sequence(step + 1);
    launch(builder, at + 230, 300, id + 1);
    builder.op("aten::item", at + 300, 260);
    builder.runtime("cudaStreamSynchronize", at + 310, 235);
    builder.op("aten::add", at + 600, 50);
    launch(builder, at + 610, 100, id + 2, "vectorized_elementwise_kernel");
    builder.op("aten::mul", at + 700, 50);
    launch(builder, at + 710, 100, id + 3, "vectorized_elementwise_kernel");
  }
  return builder.build();
}

Result<WhatIf> change(const WhatIfRequest& request) {
  const Session session(training(), "made");
  return what_if(session, request);
}

std::int64_t best(const WhatIfRequest& request) {
  const Result<WhatIf> result = change(request);
  return result ? to_ns(result->best.median) : -1;
}

WhatIfRequest scale(const std::string& assignment) {
  WhatIfRequest request;
  request.scale = {assignment};
  return request;
}

TEST(WhatIfEdits, WithoutAnEditThatMattersTheStepStays) {
  const Result<WhatIf> result = change(scale("aten::mm=1"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->before.median, duration_ns(1000));
  EXPECT_EQ(result->best.median, duration_ns(1000));
  EXPECT_EQ(result->steps, 3U);
}

TEST(WhatIfEdits, KernelThatTheHostWaitsForMakesTheStepShorter) {
  EXPECT_EQ(best(scale("kernel:gemm=0.5")), 850);
}

TEST(WhatIfEdits, OperatorIsScaledWithItsKernels) { EXPECT_LT(best(scale("aten::mm=0.5")), 850); }

TEST(WhatIfEdits, PhaseIsScaled) { EXPECT_LT(best(scale("phase:data=0.5")), 910); }

TEST(WhatIfEdits, SeveralChangesAreMadeTogether) {
  WhatIfRequest request = scale("kernel:gemm=0.5");
  request.scale.emplace_back("phase:data=0.5");
  const Result<WhatIf> result = change(request);
  ASSERT_TRUE(result);
  EXPECT_LE(result->best.median, duration_ns(760));
  EXPECT_EQ(result->changes.size(), 2U);
}

TEST(WhatIfEdits, WithoutSynchronisationTheHostGoesOn) {
  WhatIfRequest request;
  request.remove_syncs = true;
  const Result<WhatIf> result = change(request);
  ASSERT_TRUE(result);
  EXPECT_LT(result->best.median, duration_ns(800));
  EXPECT_EQ(result->worst.median, duration_ns(1000)) << "the last wait of each step stays";
  EXPECT_EQ(result->changes.at(0).slices, 3U);
}

TEST(WhatIfEdits, InputThatIsLoadedAheadCostsTheLoopNothing) {
  WhatIfRequest request;
  request.overlap_input = true;
  const Result<WhatIf> result = change(request);
  ASSERT_TRUE(result);
  EXPECT_LE(result->best.median, duration_ns(800));
  EXPECT_GT(result->worst.median, result->best.median);
}

TEST(WhatIfEdits, CapturedLaunchesCostTheHostLittle) {
  WhatIfRequest request;
  request.launch_once = true;
  EXPECT_LT(best(request), 1000);
}

TEST(WhatIfEdits, FusedChainIsOneKernel) {
  WhatIfRequest request;
  request.fuse = {"elementwise"};
  const Result<WhatIf> result = change(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes.at(0).slices, 6U) << "two kernels in each of three steps";
  EXPECT_LT(result->best.median, duration_ns(1000));
}

TEST(WhatIfEdits, WhatIsNotThereIsRefused) {
  WhatIfRequest request;
  request.pin_copies = true;
  EXPECT_NE(change(request).error().message.find("nothing of that in the trace"),
            std::string::npos);
  request = {};
  request.hide_communication = true;
  EXPECT_FALSE(change(request));
}

TEST(WhatIfEdits, PinnedCopiesDoNotKeepTheHost) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 100'000;
    builder.step(step + 1, at, 100'000);
    builder.runtime("cudaMemcpyAsync", at + 1000, 50'000, step + 1);
    builder.copy(CopyKind::h2d, at + 3000, 47'500, step + 1, 1 << 20)
        .memory(MemoryKind::pageable, MemoryKind::device);
  }
  const Session session(builder.build(), "made");
  WhatIfRequest request;
  request.pin_copies = true;
  const Result<WhatIf> result = what_if(session, request);
  ASSERT_TRUE(result);
  EXPECT_LT(result->best.median, duration_ns(65'000));
}

TEST(WhatIfEdits, HiddenCommunicationRunsBesideComputation) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 1000;
    builder.step(step + 1, at, 100);
    builder.runtime("cudaLaunchKernel", at + 10, 5, step * 10 + 1);
    builder.runtime("cudaLaunchKernel", at + 20, 5, step * 10 + 2);
    builder.on_stream(7).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 20, 500,
                                step * 10 + 1);
    builder.on_stream(7).kernel("gemm", at + 522, 400, step * 10 + 2);
  }
  const Session session(builder.build(), "made");
  WhatIfRequest request;
  request.hide_communication = true;
  const Result<WhatIf> result = what_if(session, request);
  ASSERT_TRUE(result);
  EXPECT_LT(result->best.median, result->before.median);
}

/// A GEMM that takes ten times as long as an H100 needs for it.
Trace product() {
  TraceBuilder builder;
  builder.step(1, 0, 100'000);
  builder.op("aten::mm", 1000, 5000)
      .shapes("[[4096,4096],[4096,4096]]")
      .types(R"(["c10::BFloat16","c10::BFloat16"])");
  builder.runtime("cudaLaunchKernel", 2000, 1000, 1);
  builder.kernel("sm90_xmma_gemm_bf16", 10'000, 1'500'000, 1).grid(1024, 1, 1).block(128, 1, 1);
  return builder.build();
}

TEST(WhatIfEdits, KernelsComeAsNearToTheirRoofAsAsked) {
  const Session session(product(), "made");
  WhatIfRequest request;
  request.roof = {"gemm=0.5"};
  request.peaks = device_spec_named(all_device_specs(), "H100 SXM");
  const Result<WhatIf> result = what_if(session, request);
  ASSERT_TRUE(result) << result.error().message;
  // 2 * 4096^3 FLOP at half of 989 TFLOP/s.
  const double wanted = 2.0 * 4096 * 4096 * 4096 / (0.5 * 989.4e12) * 1e9;
  const double saved = static_cast<double>(to_ns(result->before.median - result->best.median));
  EXPECT_NEAR(saved, 1'500'000 - wanted, 0.01 * 1'500'000);
  EXPECT_NE(result->changes.at(0).assumption.find("H100"), std::string::npos);
}

TEST(WhatIfEdits, RoofNeedsADeviceAFractionAndAName) {
  const Session session(product(), "made");
  WhatIfRequest request;
  request.roof = {"gemm=0.5"};
  EXPECT_NE(what_if(session, request).error().message.find("--peaks"), std::string::npos);
  request.peaks = device_spec_named(all_device_specs(), "H100 SXM");
  request.roof = {"gemm=1.5"};
  EXPECT_NE(what_if(session, request).error().message.find("not a number from 0 to 1"),
            std::string::npos);
  request.roof = {"nothing=0.5"};
  EXPECT_FALSE(what_if(session, request));
}

/// As far as a page shows it.
void expect_same(const Result<WhatIf>& a, const Result<WhatIf>& b) {
  ASSERT_EQ(a.ok(), b.ok());
  if (!a.ok()) {
    EXPECT_EQ(a.error().message, b.error().message);
    return;
  }
  EXPECT_EQ(a->best.median, b->best.median);
  EXPECT_EQ(a->best.path, b->best.path);
  EXPECT_EQ(a->worst.median, b->worst.median);
  ASSERT_EQ(a->changes.size(), b->changes.size());
  for (std::size_t i = 0; i < a->changes.size(); ++i) {
    EXPECT_EQ(a->changes[i].what, b->changes[i].what);
    EXPECT_EQ(a->changes[i].slices, b->changes[i].slices);
    EXPECT_EQ(a->changes[i].assumption, b->changes[i].assumption);
  }
}

TEST(WhatIfEdits, AModelThatIsAskedAgainSaysWhatANewOneSays) {
  const Session session(training(), "made");
  const Result<WhatIfModel> model = WhatIfModel::build(session, {}, {});
  ASSERT_TRUE(model);
  for (const char* factor : {"0.5", "0.25", "0", "2"}) {
    std::vector<WhatIfRequest> requests(6);
    requests[0].scale = {std::string("aten::mm=") + factor};
    requests[1].scale = {std::string("kernel:elementwise=") + factor, std::string("aten::mm=0.5")};
    requests[2].scale = requests[1].scale;
    requests[2].remove_syncs = requests[2].launch_once = requests[2].overlap_input = true;
    requests[3].fuse = {"elementwise"};
    requests[3].scale = requests[0].scale;
    requests[4].scale = {std::string("nothing=") + factor};
    requests[5].scale = requests[0].scale;
    requests[5].pin_copies = true;  // there are none
    for (const WhatIfRequest& request : requests)
      expect_same(model->run(request), what_if(session, request));
  }
}

TEST(WhatIfEdits, WhatIsReplayedIsAllThatItConcerns) {
  const Session session(training(), "made");
  for (const char* const steps : {"", "2"}) {
    std::optional<Selection::StepRange> range;
    if (*steps != '\0') range = Selection::StepRange{.first = 2, .last = 2};
    const Result<WhatIfModel> model = WhatIfModel::build(session, range, {});
    ASSERT_TRUE(model);
    Request selected;
    selected.steps = range;
    const Result<Selection> selection = session.select(selected);
    ASSERT_TRUE(selection);
    const Context context{session.trace(), session.analyses(), *selection, {}};
    const Replay replay = Replay::for_predictions(context);
    for (const char* const target : {"aten::mm", "aten::add", "kernel:gemm", "host:.", "op:.",
                                     "cudaLaunchKernel", "phase:data", "phase:forward"}) {
      for (const char* const factor : {"0", "0.5", "3"}) {
        const WhatIfRequest request = scale(std::string(target) + "=" + factor);
        const Result<WhatIfEdits> all = what_if_edits(context, request);
        const Result<WhatIf> result = model->run(request);
        ASSERT_EQ(all.ok(), result.ok()) << target;
        if (!all.ok()) continue;
        const Prediction expected = replay.run(all->best);
        EXPECT_EQ(result->best.median, expected.median) << target << factor;
        EXPECT_EQ(result->best.path, expected.path) << target << factor;
        EXPECT_EQ(result->changes.at(0).slices, all->changes.at(0).slices);
      }
    }
  }
}

TEST(WhatIfEdits, WhatWasNotAskedForLongestIsForgottenFirst) {
  LastUsed<int> kept(10);
  kept.keep("a", 1, 4);
  kept.keep("b", 2, 4);
  ASSERT_NE(kept.find("a"), nullptr);
  kept.keep("c", 3, 4);
  EXPECT_NE(kept.find("a"), nullptr);
  EXPECT_EQ(kept.find("b"), nullptr);
  EXPECT_EQ(*kept.keep("large", 4, 100), 4);
  EXPECT_EQ(kept.find("a"), nullptr);
  EXPECT_NE(kept.find("large"), nullptr);
}

}  // namespace
}  // namespace fathom
