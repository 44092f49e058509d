// A graph of which only what predictions need is kept predicts the same.
#include "replay/keep.h"

#include <gtest/gtest.h>

#include "replay/replay.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Many steps of a fetch, a product, a value that is read and an update; every third is slower.
class ManySteps : public testing::Test {
 protected:
  static constexpr std::int64_t kSteps = 100;

  ManySteps() {
    TraceBuilder builder;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::int64_t at = step * 1000;
      const std::int64_t id = step * 10;
      builder.on_thread(1).step(step, at, 1000);
      fetches_.push_back(builder.annotation(
          "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 200));
      builder.op("aten::mm", at + 210, 50).sequence(step);
      builder.runtime("cudaLaunchKernel", at + 230, 5, id + 1);
      kernels_.push_back(builder.kernel("gemm", at + 240, step % 3 == 0 ? 350 : 300, id + 1));
      syncs_.push_back(builder.runtime("cudaStreamSynchronize", at + 300, 300));
      builder.on_thread(2).op("autograd::engine::evaluate_function: X", at + 620, 100);
      builder.runtime("cudaLaunchKernel", at + 640, 5, id + 2);
      kernels_.push_back(builder.kernel("gemm_backward", at + 650, 200, id + 2));
    }
    trace_ = builder.build();
  }

  Trace trace_;
  Analyses analyses_{trace_};
  Context context_{trace_, analyses_, {}, {}};
  std::vector<SliceId> fetches_, kernels_, syncs_;
};

TEST_F(ManySteps, AreRepresentedByFew) {
  const Replay whole = Replay::build(context_);
  const Replay smaller = Replay::for_predictions(context_);
  EXPECT_LT(whole.run({}).steps.size(), static_cast<std::size_t>(kSteps));
  EXPECT_LT(smaller.nodes(), whole.nodes() / 2);
}

TEST_F(ManySteps, HaveTheSamePredictionsAndResiduals) {
  const Replay whole = Replay::build(context_);
  const Replay smaller = Replay::for_predictions(context_);
  Edits scaled;
  for (const SliceId kernel : kernels_) scaled.scale.emplace_back(kernel, 0.5F);
  Edits unsynchronised;
  unsynchronised.no_wait = syncs_;
  Edits ahead;
  ahead.overlap = fetches_;
  Edits captured;
  captured.launch_once = true;
  for (const Edits& edits : {Edits(), scaled, unsynchronised, ahead, captured}) {
    const Prediction expected = whole.run(edits);
    const Prediction found = smaller.run(edits);
    EXPECT_EQ(found.steps, expected.steps);
    EXPECT_EQ(found.path, expected.path);
  }
  EXPECT_EQ(smaller.residuals().sum, whole.residuals().sum);
  EXPECT_EQ(smaller.residuals().window, whole.residuals().window);
}

}  // namespace
}  // namespace fathom
