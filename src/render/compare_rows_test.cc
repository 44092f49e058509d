#include "render/compare_rows.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(CompareRows, SteadinessIsToldOfTheSidesThatChanged) {
  Comparison pair;
  pair.base.warm_up = WarmUp{.kind = Steadiness::warm, .after = 12};
  pair.now.warm_up = WarmUp{.kind = Steadiness::never_steady, .after = 20};
  EXPECT_EQ(steadiness_text(pair, false), "base faster after 12 steps; new never steady.");
  pair.base.warm_up = WarmUp{};
  pair.now.warm_up = WarmUp{.kind = Steadiness::slowed, .after = 1};
  EXPECT_EQ(steadiness_text(pair, false), "new slower after 1 step.");
  pair.now.times_only = true;
  EXPECT_EQ(steadiness_text(pair, false), "new slower after 1 run.");
  pair.now.warm_up.reset();
  EXPECT_EQ(steadiness_text(pair, false), "");
}

TEST(CompareRows, HowMuchWasMatchedIsOneLine) {
  Comparison pair;
  EXPECT_EQ(matched_text(pair),
            "Nothing could be aligned: neither side has an operator or kernel.");
  pair.aligned[static_cast<std::size_t>(Alignment::module_operator_shapes)] = 0.7;
  pair.aligned[static_cast<std::size_t>(Alignment::fused)] = 0.2;
  pair.aligned[static_cast<std::size_t>(Alignment::new_only)] = 0.1;
  EXPECT_EQ(matched_text(pair),
            "70.0 % by module, operator, shapes; 20.0 % otherwise; 10.0 % not.");
  pair.comparability = Comparability::times_only;
  EXPECT_EQ(matched_text(pair), "");
}

TEST(CompareRows, HowNeighboursCorrelateIsToldWithAllOnly) {
  Comparison pair;
  pair.base.autocorrelation = 0.256;
  pair.now.warm_up = WarmUp{.kind = Steadiness::warm, .after = 3};
  pair.now.autocorrelation = -0.5;
  EXPECT_EQ(steadiness_text(pair, false), "new faster after 3 steps.");
  EXPECT_EQ(steadiness_text(pair, true),
            "base correlation of neighbours 0.260; new faster after 3 steps, correlation of "
            "neighbours −0.500.");
  pair.comparability = Comparability::same_recording;
  EXPECT_EQ(steadiness_text(pair, true), "both correlation of neighbours 0.260.");
}

TEST(CompareRows, AllThatDiffersIsNamedFirstWhatBothSidesRecorded) {
  const std::vector<ComparedCondition> differs = {
      {.id = "seed", .title = "seed of torch", .base = "", .now = "1"},
      {.id = "host.cpu", .title = "processor", .base = "a, b", .now = "c"},
      {.id = "cuda", .title = "CUDA", .base = "13.2", .now = ""},
      {.id = "torch", .title = "PyTorch", .base = "2.14", .now = "2.15"},
      {.id = "threads", .title = "threads", .base = "", .now = "8"}};
  EXPECT_EQ(differs_text(differs),
            "processor a, b → c; PyTorch 2.14 → 2.15; only base recorded: CUDA 13.2; only new "
            "recorded: seed of torch 1; threads 8");
  EXPECT_EQ(differs_text({differs.front()}), "only new recorded: seed of torch 1");
  EXPECT_EQ(differs_text({}), "");
  EXPECT_EQ(condition_texts(differs).front(), "seed of torch not recorded → 1");
}

TEST(CompareRows, NumbersThatAreWrittenAlikeHaveTheirDifference) {
  Comparison pair;
  pair.base.steps = pair.now.steps = 2;
  pair.counters = {{.id = "copied_bytes",
                    .title = "copied bytes",
                    .unit = "bytes",
                    .base = 9'600'000,
                    .now = 9'599'992},
                   {.id = "copies", .title = "copies", .unit = "count", .base = 4, .now = 6},
                   {.id = "kernels", .title = "kernels", .unit = "count", .base = 4, .now = {}}};
  const std::vector<std::string> texts = counter_texts(pair);
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0], "copied bytes 4.578 MiB → 4.578 MiB (−4 B)");
  EXPECT_EQ(texts[1], "copies 2 → 3");
  EXPECT_EQ(texts[2], "kernels 2 → –");
}

TEST(CompareRows, ACauseNamesEachOperatorOnceAndCountsTheRest) {
  Comparison pair;
  CauseGroup group{.cause = Cause::time_per_call, .change_ns = 9, .rows = {}};
  for (const std::string_view what : {"a", "b", "a", "c", "d", "e", "d"}) {
    ComparedRow row;
    row.what = what;
    row.detail = "1 ns → 2 ns per call";
    group.rows.push_back(pair.rows.size());
    pair.rows.push_back(row);
  }
  pair.causes = {group};
  const std::vector<ChangeLine> lines = cause_lines(pair, 10);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].what, "more time per call: a, 1 ns → 2 ns per call; b; c; 2 more");
}

TEST(CompareRows, WhatIsFoldedIsCountedOnceWithoutItsParts) {
  Comparison pair;
  pair.base.steps = pair.now.steps = 1;
  for (const std::int64_t change : {40, 30, 20}) {
    ComparedRow row;
    row.part.change_ns = change;
    row.cause = Cause::time_per_call;
    row.calls_in_step = 2;
    row.occurrences = {{.number = 2, .part = {.change_ns = change}}, {.number = 1, .part = {}}};
    pair.rows.push_back(row);
  }
  const std::vector<ChangeLine> all = row_lines(pair, 10);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[1].what, "  call 2 of 2 in a step");
  const std::vector<ChangeLine> some = row_lines(pair, 3);
  ASSERT_EQ(some.size(), 3U);
  EXPECT_EQ(some.back().what, "2 other rows");
  EXPECT_EQ(some.back().change_ns, 50);
}

TEST(CompareRows, PercentagesHaveASignBeforeTheirNumber) {
  EXPECT_EQ(signed_percent(-47.84), "−47.8 %");
  EXPECT_EQ(signed_percent(0.3), "+0.3 %");
  EXPECT_EQ(signed_percent(0), "0.0 %");
  EXPECT_EQ(signed_percent(0.001), "< +0.01 %");
  EXPECT_EQ(signed_percent(-0.001), "> −0.01 %");
  EXPECT_EQ(signed_percent(123456), "+123,456 %");
}

}  // namespace
}  // namespace fathom
