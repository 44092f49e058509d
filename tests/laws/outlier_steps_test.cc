// One long step decides neither the verdict nor what the other findings would give.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Eight steps of 10 ms in which the device computes; one of them ends with `pause` ms of nothing.
Session steps_with(std::int64_t pause) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (int step = 0; step < 8; ++step) {
    const std::int64_t length = 10 * kMs + (step == 4 ? pause * kMs : 0);
    builder.step(step, at, length);
    builder.op("aten::mm", at, 200'000);
    builder.runtime("cudaLaunchKernel", at + 1000, 1000, step + 1);
    builder.kernel("gemm", at + 3000, 9 * kMs, step + 1);
    at += length;
  }
  return Session(builder.build(), "made.json");
}

TEST(OutlierSteps, DoNotDecideTheVerdict) {
  const Session even = steps_with(0);
  const Session paused = steps_with(200);
  const Result<Diagnosis> without = diagnose(even, {});
  const Result<Diagnosis> with = diagnose(paused, {});
  ASSERT_TRUE(without.ok());
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(with->verdict.id, without->verdict.id);
  EXPECT_EQ(with->usual_ns.count, 7U);
  EXPECT_TRUE(with->steps[4].outlier);
  const auto found = std::ranges::find_if(with->findings, [](const RankedFinding& each) {
    return each.finding.rule == "step-outliers";
  });
  ASSERT_NE(found, with->findings.end());
  EXPECT_GT(found->upper_bound, duration_ns(24 * kMs));
}

TEST(OutlierSteps, AreAccountedForAllTheSame) {
  const Session paused = steps_with(200);
  const Result<Diagnosis> diagnosis = diagnose(paused, {});
  ASSERT_TRUE(diagnosis.ok());
  Duration all{};
  Duration windows{};
  for (const Duration time : diagnosis->account.time) all += time;
  for (const StepAccount& step : diagnosis->steps) windows += step.window.length();
  EXPECT_EQ(all, windows);
  Duration granted{};
  for (const RankedFinding& found : diagnosis->findings) granted += found.upper_bound;
  EXPECT_LE(granted, windows / 8);
}

}  // namespace
}  // namespace fathom
