#include "engine/diagnosis/cards.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

RankedFinding found(std::string_view rule, Family family, std::int64_t saved) {
  RankedFinding ranked;
  ranked.id = rule;
  ranked.finding.rule = rule;
  ranked.finding.family = family;
  ranked.step = duration_ns(1000);
  ranked.upper_bound = duration_ns(saved);
  ranked.percent = static_cast<double>(saved) / 10;
  return ranked;
}

Diagnosis cards_of(std::vector<RankedFinding> findings, VerdictId verdict = VerdictId::host_bound) {
  Diagnosis diagnosis;
  diagnosis.verdict.id = verdict;
  diagnosis.findings = std::move(findings);
  make_cards(diagnosis);
  return diagnosis;
}

/// "1 zero-grad" for each card; "-" where it has no number.
std::vector<std::string> order(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const RankedFinding& card : diagnosis.findings)
    lines.push_back((card.number == 0 ? "-" : std::to_string(card.number)) + " " + card.id);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Cards, JoinFindingsOfOneCauseUnderTheOneThatSavesMost) {
  const Diagnosis diagnosis =
      cards_of({found("data-loading", Family::input, 200), found("zero-grad", Family::host, 300),
                found("data-loader-workers", Family::input, 500)});
  EXPECT_EQ(order(diagnosis), (Lines{"1 data-loader-workers", "2 zero-grad"}));
  const RankedFinding& card = diagnosis.findings.front();
  ASSERT_EQ(card.alternatives.size(), 1U);
  EXPECT_EQ(card.alternatives.front().id, "data-loading");
  EXPECT_EQ(rules_merged_into(card), std::vector<std::string_view>{"data-loading"});
}

/// One about `observed`, of which others have left it that much.
RankedFinding about(std::string_view rule, std::int64_t observed, std::int64_t left) {
  RankedFinding ranked = found(rule, Family::host, left);
  ranked.observed = duration_ns(observed);
  return ranked;
}

TEST(Cards, JoinWhatIsAboutTheTimeOfAnother) {
  const Diagnosis diagnosis =
      cards_of({about("sync-points", 385, 385), about("host-work-between-launches", 393, 30)});
  EXPECT_EQ(order(diagnosis), Lines{"1 sync-points"});
  ASSERT_EQ(diagnosis.findings.front().alternatives.size(), 1U);
  EXPECT_EQ(order(cards_of({about("sync-points", 385, 385),
                            about("host-work-between-launches", 393, 200)}))
                .size(),
            2U)
      << "half of it is its own";
  EXPECT_EQ(order(cards_of({about("sync-points", 100, 100),
                            about("host-work-between-launches", 393, 30)}))
                .size(),
            2U)
      << "most of it belongs to something else";
  EXPECT_EQ(
      order(cards_of({about("pageable-copies", 385, 385), about("host-bound", 393, 30)})).size(),
      2U);
}

/// One that saves `alone`, and `last` after the others.
RankedFinding hidden(std::string_view rule, std::int64_t alone, std::int64_t last) {
  RankedFinding ranked = found(rule, Family::compute, last);
  ranked.gain = RankedFinding::Gain{
      .low = Duration{}, .likely = duration_ns(alone), .high = duration_ns(last)};
  ranked.after_others = duration_ns(last);
  return ranked;
}

TEST(Cards, FollowTheLargestByWhatTheySaveAndAPartOfWhatHidesBehindTheOthers) {
  const Diagnosis diagnosis = cards_of(
      {found("zero-grad", Family::host, 60), hidden("tensor-cores-unused", 0, 480),
       found("pageable-copies", Family::transfer, 30), found("host-bound", Family::host, 100)});
  EXPECT_EQ(order(diagnosis),
            (Lines{"1 host-bound", "2 tensor-cores-unused", "3 zero-grad", "4 pageable-copies"}))
      << "nothing by itself never leads, but a quarter of 480 is more than 60";
  EXPECT_TRUE(hides_behind_others(diagnosis.findings[1]));
  EXPECT_FALSE(hides_behind_others(diagnosis.findings[2]));
  EXPECT_EQ(diagnosis.findings[1].quick_win, 4U) << "quick is what saves by itself";
}

TEST(Cards, SayWhatSavesMostByItselfInThePlaceOfTheirCause) {
  const Diagnosis diagnosis =
      cards_of({found("pageable-copies", Family::transfer, 200), hidden("host-bound", 0, 480),
                found("cuda-graph-inference", Family::host, 100)});
  EXPECT_EQ(order(diagnosis), (Lines{"1 pageable-copies", "2 cuda-graph-inference"}));
  ASSERT_EQ(diagnosis.findings[1].alternatives.size(), 1U);
  EXPECT_EQ(diagnosis.findings[1].alternatives.front().id, "host-bound");
}

TEST(Cards, CountALowConfidenceHalf) {
  RankedFinding unsure = found("hot-kernel", Family::latency, 100);
  unsure.finding.confidence = Confidence::low;
  EXPECT_EQ(order(cards_of({unsure, found("host-bound", Family::host, 60)})),
            (Lines{"1 host-bound", "2 hot-kernel"}));
  EXPECT_EQ(order(cards_of({unsure, found("host-bound", Family::host, 40)})),
            (Lines{"1 hot-kernel", "2 host-bound"}));
}

TEST(Cards, OrderWhatIsNextToNothingBySeverity) {
  RankedFinding grave = found("exposed-communication", Family::communication, 1);
  grave.finding.weight = Weight::critical;
  EXPECT_EQ(order(cards_of({found("host-bound", Family::host, 90),
                            found("shape-alignment", Family::compute, 4), grave})),
            (Lines{"1 host-bound", "2 exposed-communication", "3 shape-alignment"}));
}

TEST(Cards, JoinTheOptimizersLoopsOverParameters) {
  const Diagnosis diagnosis = cards_of(
      {found("zero-grad", Family::host, 70), found("unfused-optimizer", Family::host, 20)});
  EXPECT_EQ(order(diagnosis), Lines{"1 zero-grad"});
  EXPECT_EQ(rules_merged_into(diagnosis.findings.front()),
            std::vector<std::string_view>{"unfused-optimizer"});
}

TEST(Cards, JoinGraphsWithLaunches) {
  const Diagnosis diagnosis = cards_of(
      {found("host-bound", Family::host, 10), found("cuda-graph-inference", Family::host, 700)});
  EXPECT_EQ(order(diagnosis), Lines{"1 cuda-graph-inference"});
}

TEST(Cards, JoinTheOptimizersChainsWithItsOperatorsButNotThoseOfTheModel) {
  RankedFinding chains = found("fusable-elementwise", Family::memory_bandwidth, 100);
  const RankedFinding single = found("unfused-optimizer", Family::host, 700);
  EXPECT_EQ(order(cards_of({single, chains})),
            (Lines{"1 unfused-optimizer", "2 fusable-elementwise"}));
  chains.finding.cause = "optimizer";
  EXPECT_EQ(order(cards_of({single, chains})), Lines{"1 unfused-optimizer"});
}

TEST(Cards, DoNotJoinTwoPlacesThatOneRuleFinds) {
  const Diagnosis diagnosis =
      cards_of({found("sync-points", Family::sync, 100), found("sync-points", Family::sync, 90)});
  EXPECT_EQ(diagnosis.findings.size(), 2U);
}

TEST(Cards, JoinFindingsAboutOneOperator) {
  std::vector<RankedFinding> findings = {found("hot-kernel", Family::latency, 100),
                                         found("hot-kernel", Family::latency, 90),
                                         found("hot-kernel", Family::latency, 80)};
  findings[0].finding.key = "aten::mm [[2,3]]";
  findings[1].finding.key = "aten::add [[2]]";
  findings[2].finding.key = "aten::mm [[4,5]]";
  const Diagnosis diagnosis = cards_of(std::move(findings));
  ASSERT_EQ(diagnosis.findings.size(), 2U);
  EXPECT_EQ(diagnosis.findings[0].alternatives.size(), 1U);
  EXPECT_TRUE(rules_merged_into(diagnosis.findings[0]).empty());
}

TEST(Cards, NumberOnlyWhatSavesTime) {
  const Diagnosis diagnosis = cards_of({found("profiling-mistakes", Family::capture, 0),
                                        found("memory-capacity", Family::memory_capacity, 0),
                                        found("zero-grad", Family::host, 300)});
  EXPECT_EQ(order(diagnosis), (Lines{"1 zero-grad", "- memory-capacity", "- profiling-mistakes"}));
  EXPECT_EQ(diagnosis.findings[1].part, FindingPart::no_gain);
  EXPECT_EQ(diagnosis.findings[2].part, FindingPart::capture);
}

TEST(Cards, ShowWhatTheVerdictIsAboutFirst) {
  std::vector<RankedFinding> findings = {found("zero-grad", Family::host, 300),
                                         found("warmup-in-window", Family::capture, 0)};
  findings[1].finding.key = "first-use";
  EXPECT_EQ(order(cards_of(findings, VerdictId::warmup_in_window)),
            (Lines{"- warmup-in-window", "1 zero-grad"}));
  EXPECT_EQ(order(cards_of(findings)), (Lines{"1 zero-grad", "- warmup-in-window"}));
}

TEST(Cards, GiveEveryFindingItsPlaceAmongQuickWins) {
  std::vector<RankedFinding> findings = {found("host-bound", Family::host, 400),
                                         found("cuda-graph-inference", Family::host, 300),
                                         found("zero-grad", Family::host, 200)};
  findings[0].finding.effort = Effort::redesign;
  findings[1].finding.effort = Effort::redesign;
  findings[2].finding.effort = Effort::flag;
  const Diagnosis diagnosis = cards_of(std::move(findings));
  EXPECT_EQ(diagnosis.findings[0].quick_win, 2U);
  EXPECT_EQ(diagnosis.findings[0].alternatives.front().quick_win, 3U);
  EXPECT_EQ(diagnosis.findings[1].quick_win, 1U);
  EXPECT_EQ(quick_wins(diagnosis), (std::vector<std::size_t>{1, 0}));
}

TEST(Cards, TellTheBottleneckBeforeASmallPartThatNoReplayPredicts) {
  const auto order_with = [](double about, bool predicted, std::int64_t saved = 85) {
    RankedFinding bottleneck = found("hot-kernel", Family::latency, 0);
    bottleneck.finding.about_percent = about;
    RankedFinding outliers = found("step-outliers", Family::host, saved);
    if (predicted)
      outliers.gain = RankedFinding::Gain{Duration{}, duration_ns(saved), duration_ns(saved)};
    return order(cards_of({std::move(outliers), std::move(bottleneck)}));
  };
  EXPECT_EQ(order_with(80.8, false), (Lines{"- hot-kernel", "1 step-outliers"}));
  EXPECT_EQ(order_with(80.8, true), (Lines{"1 step-outliers", "- hot-kernel"}));
  EXPECT_EQ(order_with(80.8, true, 34), (Lines{"- hot-kernel", "1 step-outliers"}));
  EXPECT_EQ(order_with(30.0, false), (Lines{"1 step-outliers", "- hot-kernel"}));
}

}  // namespace
}  // namespace fathom
