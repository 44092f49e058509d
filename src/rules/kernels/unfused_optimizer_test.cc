#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule unfused_optimizer();

namespace {

/// An optimizer step of `count` operators named `name`, each launching a kernel after the host.
TraceBuilder optimizer(std::string_view name, std::int64_t count,
                       std::string_view step = "Optimizer.step#SGD.step") {
  TraceBuilder builder;
  builder.step(1, 0, 100 * count + 1000);
  builder.annotation(step, 100, 100 * count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = 100 + 100 * i;
    builder.op(name, at, 90);
    builder.runtime("cudaLaunchKernel", at + 60, 10, i + 1);
    builder.kernel("add", at + 80, 10, i + 1);
  }
  return builder;
}

TEST(UnfusedOptimizer, IsToldOfALoopOverParameters) {
  TraceBuilder builder = optimizer("aten::add_", 40);
  const JudgedTrace judged(builder);
  const auto findings = judged.findings(unfused_optimizer());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].effort, Effort::flag);
  EXPECT_GT(judged.rules().percent(total(findings[0].claims)), 30);
}

TEST(UnfusedOptimizer, AbstainsWhereMostIsDoneOnlyOnce) {
  constexpr std::int64_t kMs = 1'000'000;
  TraceBuilder builder;
  builder.annotation("Optimizer.step#SGD.step", 0, 7 * kMs);
  builder.runtime("cudaLaunchKernel", 10, 5 * kMs, 1);
  builder.kernel("first", 5 * kMs + 20, 1000, 1);
  for (std::int64_t i = 0; i < 40; ++i)
    add_launch(builder, "aten::add_", 5 * kMs + 2000 + 100 * i, "add", 10, i + 2);
  EXPECT_NE(JudgedTrace(builder).abstains(unfused_optimizer()), "");
}

TEST(UnfusedOptimizer, IsNothingForForeachAndForFewParameters) {
  TraceBuilder foreach = optimizer("aten::_foreach_add_", 40);
  EXPECT_TRUE(JudgedTrace(foreach).findings(unfused_optimizer()).empty());
  TraceBuilder few = optimizer("aten::add_", 3);
  EXPECT_TRUE(JudgedTrace(few).findings(unfused_optimizer()).empty());
}

TEST(UnfusedOptimizer, LeavesOptimizersAloneThatAreFusedByName) {
  TraceBuilder builder = optimizer("aten::add_", 40, "Optimizer.step#FusedAdam.step");
  EXPECT_TRUE(JudgedTrace(builder).findings(unfused_optimizer()).empty());
}

TEST(UnfusedOptimizer, LeavesOptimizersAloneThatMultiplyMatrices) {
  TraceBuilder builder = optimizer("aten::add_", 40, "Optimizer.step#Muon.step");
  builder.op("aten::baddbmm", 192, 5);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(unfused_optimizer()).empty());
  EXPECT_EQ(judged.abstains(unfused_optimizer()), "");
}

TEST(UnfusedOptimizer, AbstainsWithoutAnOptimizerStep) {
  TraceBuilder builder;
  builder.op("aten::add_", 0, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(unfused_optimizer()), "");
}

TEST(UnfusedOptimizer, CountsStepsInsideOneAnotherOnce) {
  TraceBuilder builder = optimizer("aten::add_", 40, "Optimizer.step#CombinedOptimizer.step");
  builder.annotation("Optimizer.step#Adam.step", 100, 3999);
  const auto findings = JudgedTrace(builder).findings(unfused_optimizer());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find(": 4.000 µs"), std::string::npos) << findings[0].title;
}

TEST(UnfusedOptimizer, LeavesTheClosureOfAStepOut) {
  TraceBuilder builder = optimizer("aten::add_", 40);
  builder.op("aten::linear", 100, 990);  // the closure's forward pass, around ten of the operators
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 1100, 900);
  const auto findings = JudgedTrace(builder).findings(unfused_optimizer());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find(": 2.100 µs"), std::string::npos) << findings[0].title;
}

TEST(UnfusedOptimizer, SeesTheOperatorsInsideRangesOfTheProgram) {
  TraceBuilder builder = optimizer("aten::add_", 40);
  builder.annotation("CustomAdam.step", 100, 3999);
  EXPECT_EQ(JudgedTrace(builder).findings(unfused_optimizer()).size(), 1U);
}

TEST(UnfusedOptimizer, IsAdvisedOfItsOwnImplementation) {
  const auto fix = [](std::string_view step) {
    TraceBuilder builder = optimizer("aten::add_", 40, step);
    return JudgedTrace(builder).findings(unfused_optimizer()).at(0).fix;
  };
  EXPECT_EQ(fix("Optimizer.step#SGD.step").after,
            "torch.optim.SGD(model.parameters(), fused=True)");
  EXPECT_EQ(fix("Optimizer.step#RMSprop.step").after,
            "torch.optim.RMSprop(model.parameters(), foreach=True)");
  const Fix own = fix("Optimizer.step#Lion.step");
  EXPECT_EQ((own.text + own.after).find("fused=True"), std::string::npos);
  EXPECT_EQ((own.text + own.after).find("foreach=True"), std::string::npos);
}

TEST(UnfusedOptimizer, IsAdvisedOfTheClassThatRan) {
  const auto fix = [](std::string_view step, std::string_view frame) {
    TraceBuilder builder = optimizer("aten::add_", 40, step);
    if (!frame.empty()) builder.frame(frame, 100, 3900);
    return JudgedTrace(builder).findings(unfused_optimizer()).at(0).fix;
  };
  const auto advised = [](const Fix& each) { return each.after.starts_with("torch.optim."); };
  EXPECT_FALSE(
      advised(fix("Optimizer.step#Adafactor.step", "transformers/optimization.py(900): step")));
  EXPECT_FALSE(
      advised(fix("Optimizer.step#AdamW.step", "transformers/optimization.py(600): step")));
  EXPECT_EQ(fix("Optimizer.step#Adafactor.step", "torch/optim/_adafactor.py(150): step").after,
            "torch.optim.Adafactor(model.parameters(), foreach=True)");
  EXPECT_EQ(fix("Optimizer.step#AdamW.step", "torch/optim/adam.py(220): step").after,
            "torch.optim.AdamW(model.parameters(), fused=True)");
  const Fix doubtful = fix("Optimizer.step#Adafactor.step", "");
  EXPECT_FALSE(advised(doubtful)) << doubtful.after;
  EXPECT_NE(doubtful.text.find("that of transformers does not"), std::string::npos);
}

TEST(UnfusedOptimizer, IsNotAdvisedOfAFusedOneThatTheDeviceDoesNotHave) {
  TraceBuilder builder = optimizer("aten::add_", 40, "Optimizer.step#Adagrad.step");
  EXPECT_EQ(JudgedTrace(builder).findings(unfused_optimizer()).at(0).fix.after,
            "torch.optim.Adagrad(model.parameters(), foreach=True)");
}

TEST(UnfusedOptimizer, IsNotAdvisedOfAFusedOneForSparseGradients) {
  TraceBuilder builder = optimizer("aten::add_", 40);
  builder.op("aten::embedding_sparse_backward", 4200, 50);
  const Fix fix = JudgedTrace(builder).findings(unfused_optimizer()).at(0).fix;
  EXPECT_EQ(fix.after, "torch.optim.SGD(model.parameters(), foreach=True)");
  EXPECT_NE(fix.text.find("sparse gradients"), std::string::npos);
}

/// Two steps that accumulate eight gradients, update by a fused optimizer, and then call `name` and
/// `other` once for each of `averages` weights.
std::vector<Finding> averaging(std::int64_t averages, std::string_view name,
                               std::string_view other) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 100'000 * step;
    builder.step(step, at, 100'000);
    for (std::int64_t i = 0; i < 8; ++i)
      builder.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                 at + 1000 + 1000 * i, 500);
    builder.annotation("Optimizer.step#SGD.step", at + 10'000, 2000);
    builder.op("aten::_foreach_add_", at + 10'100, 1500);
    for (std::int64_t i = 0; i < averages; ++i) {
      builder.op(name, at + 20'000 + 2000 * i, 900);
      if (!other.empty()) builder.op(other, at + 21'000 + 2000 * i, 900);
    }
    builder.op("aten::linear", at + 60'000, 1000);
  }
  return JudgedTrace(builder).findings(unfused_optimizer());
}

TEST(UnfusedOptimizer, NamesAveragesOfTheWeightsThatAreUpdatedOneByOne) {
  const auto findings = averaging(8, "aten::mul_", "aten::add_");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "averages");
  EXPECT_EQ(findings[0].title,
            "Averages of the weights are updated one by one: 15.90 µs (15.9 % of the step)");
  EXPECT_EQ(findings[0].evidence[0].text,
            "8 updates after an optimizer step, which has 8 gradients, by 16 operators");
  EXPECT_NE(findings[0].fix.after.find("get_ema_multi_avg_fn"), std::string::npos);
  EXPECT_GT(total(findings[0].claims), duration_ns(2 * 8 * 2 * 900 / 2));
  EXPECT_EQ(averaging(8, "aten::lerp_", "").size(), 1U);
}

TEST(UnfusedOptimizer, TakesUpdatesForAveragesOnlyWhereTheyAreAsManyAsGradients) {
  EXPECT_TRUE(averaging(5, "aten::mul_", "aten::add_").empty());
  EXPECT_TRUE(averaging(18, "aten::mul_", "aten::add_").empty());
  EXPECT_TRUE(averaging(8, "aten::mul_", "").empty()) << "a decay of the weights";
  EXPECT_TRUE(averaging(8, "aten::_foreach_lerp_", "").empty());
}

}  // namespace
}  // namespace fathom
