#include "engine/diagnosis/page.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Three steps of 100, 300 and 200 ns with a kernel each.
Session three_steps() {
  TraceBuilder trace;
  std::int64_t at = 0;
  for (const int length : {100, 300, 200}) {
    const auto number = static_cast<std::uint32_t>(at + 1);
    trace.annotation("ProfilerStep#" + std::to_string(at), at, length);
    trace.op("aten::mm", at + 10, 60);
    trace.runtime("cudaLaunchKernel", at + 20, 10, number);
    trace.kernel("gemm", at + 40, 50, number);
    at += length;
  }
  return {trace.build(), "trace.json"};
}

Page page_of(const Session& session) {
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  EXPECT_TRUE(diagnosis);
  Result<Page> page = collect_page(session, {}, *diagnosis);
  EXPECT_TRUE(page);
  return std::move(*page);
}

TEST(Page, ShowsTheStepOfMedianLength) {
  const Session session = three_steps();
  EXPECT_EQ(page_of(session).median.window.length(), duration_ns(200));
}

TEST(Diagnosis, CannotTellWhereMostKernelsAreMissing) {
  TraceBuilder trace;
  trace.annotation("ProfilerStep#1", 0, 10'000);
  for (std::uint32_t i = 0; i < 9; ++i) {
    trace.op("aten::mm", 1000 * i + 10, 600);
    trace.runtime("cudaLaunchKernel", 1000 * i + 20, 10, i + 1);
    if (i < 4) trace.kernel("gemm", 1000 * i + 40, 500, i + 1);
  }
  const Session session{trace.build(), "trace.json"};
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->verdict.id, VerdictId::cannot_tell) << diagnosis->verdict.sentence;
  ASSERT_EQ(diagnosis->steps.size(), 1U);
  EXPECT_EQ(diagnosis->steps[0].account.total(), diagnosis->steps[0].window.length());
}

TEST(Page, StripHasAThreadAndAStreamWithinTheStep) {
  const Session session = three_steps();
  const Page page = page_of(session);
  ASSERT_EQ(page.strip.size(), 2U);
  for (const StripTrack& track : page.strip) {
    ASSERT_EQ(track.pieces.size(), 1U) << track.name;
    EXPECT_GE(track.pieces[0].interval.begin, page.median.window.begin);
    EXPECT_LE(track.pieces[0].interval.end, page.median.window.end);
  }
}

TEST(Page, FlameGraphHasParentsBeforeTheirChildren) {
  const Session session = three_steps();
  const Page page = page_of(session);
  ASSERT_FALSE(page.flame.empty());
  EXPECT_EQ(page.flame[0].total, duration_ns(150)) << "three kernels";
  for (std::size_t i = 1; i < page.flame.size(); ++i) {
    EXPECT_LE(page.flame[i].depth, page.flame[i - 1].depth + 1);
    EXPECT_LE(page.flame[i].total, page.flame[0].total);
  }
}

TEST(Page, HasTheAccountingByPhase) {
  const Session session = three_steps();
  const Page page = page_of(session);
  ASSERT_EQ(page.phases.size(), 1U);
  EXPECT_EQ(page.phases[0].group_by, "phase");
}

}  // namespace
}  // namespace fathom
