#include "compare/verification.h"

#include <gtest/gtest.h>

#include "compare/ledger.h"
#include "compare/made_profile.h"

namespace fathom {
namespace {

PredictedSaving predicted(double low, double likely, double high) {
  return {
      .findings = {"fp64"}, .titles = {"In double"}, .low = low, .likely = likely, .high = high};
}

RankedFinding finding(std::string id, std::int64_t low, std::int64_t likely, std::int64_t high,
                      std::int64_t upper_bound) {
  RankedFinding out;
  out.id = std::move(id);
  out.finding.title = "title";
  out.step = duration_ns(1000);
  out.upper_bound = duration_ns(upper_bound);
  out.predicted = RankedFinding::StepTime{
      .low = duration_ns(low), .likely = duration_ns(likely), .high = duration_ns(high)};
  return out;
}

Profile steps_of(std::int64_t ns, std::uint64_t content) {
  Profile profile;
  profile.content = content;
  for (std::int64_t i = 0; i < 20; ++i) profile.lengths_ns.push_back(ns + i);
  return profile;
}

VerifyOutcome outcome(double low, double estimate, double high) {
  return outcome_of(predicted(0.6, 0.7, 0.8),
                    {.interval = {.low = low, .high = high}, .estimate = estimate});
}

Profile at_clock(Profile profile, double mhz) {
  profile.clock_mhz = mhz;
  return profile;
}

TEST(Verification, OutcomesAreOfIntervals) {
  EXPECT_EQ(outcome(0.65, 0.7, 0.75), VerifyOutcome::confirmed);
  EXPECT_EQ(outcome(0.3, 0.35, 0.4), VerifyOutcome::confirmed);  // more than predicted
  EXPECT_EQ(outcome(0.75, 0.8, 0.99), VerifyOutcome::confirmed);
  EXPECT_EQ(outcome(0.85, 0.9, 0.95), VerifyOutcome::less);
  EXPECT_EQ(outcome(0.95, 1, 1.02), VerifyOutcome::refuted);
  EXPECT_EQ(outcome(1.2, 1.25, 1.3), VerifyOutcome::refuted);
  EXPECT_EQ(outcome(0.7, 0.9, 1.1), VerifyOutcome::cannot_tell);
}

TEST(Verification, AnIntervalThatReachesThePredictionDoesNotConfirmAnEstimateOutside) {
  EXPECT_EQ(outcome(0.51, 0.99, 0.99), VerifyOutcome::cannot_tell);
  Runs base;
  Runs now;
  for (std::uint64_t run = 0; run < 6; ++run) {
    const auto at = static_cast<std::int64_t>(2 * run + 1);
    base.push_back({steps_of(100'000, run + 1)});
    now.push_back({steps_of(run == 0 ? 50'000 : 99'000, run + 101)});
    base.back().front().started_unix_ns = at + (run % 2 == 0 ? 0 : 1);
    now.back().front().started_unix_ns = at + (run % 2 == 0 ? 1 : 0);
  }
  const Verification out = verify_runs(predicted(0.42, 0.5, 0.66), base, now, Claims::over_runs);
  EXPECT_EQ(out.outcome, VerifyOutcome::cannot_tell);
  EXPECT_LT(out.interval->low, 0.66);
  EXPECT_NEAR(*out.by_pairs, 0.99, 1e-3);
  EXPECT_NE(out.reason.find("on the side of less"), std::string::npos) << out.reason;
}

TEST(Verification, AnotherClockIsBelievedOnlyWhereCyclesAgree) {
  const auto at_clocks = [](double base, double now) {
    return verify_runs(predicted(0.85, 0.9, 0.95), {{at_clock(steps_of(100'000, 1), base)}},
                       {{at_clock(steps_of(90'000, 2), now)}}, Claims::within_runs);
  };
  EXPECT_EQ(at_clocks(1800, 1810).outcome, VerifyOutcome::confirmed);
  EXPECT_EQ(at_clocks(1800, 2000).outcome, VerifyOutcome::cannot_tell);
  EXPECT_NE(at_clocks(1800, 2000).reason.find("by cycles the outcome is another"),
            std::string::npos);
  EXPECT_EQ(at_clocks(1800, 1700).outcome, VerifyOutcome::confirmed);
  EXPECT_NE(at_clocks(1800, 1700).reason.find("by cycles the outcome is the same"),
            std::string::npos);
}

TEST(Verification, ARankThatOneSideLacksDecidesNothing) {
  const auto of_rank = [](Profile profile, std::int64_t rank) {
    profile.rank = rank;
    return profile;
  };
  const Runs base = {{of_rank(steps_of(100'000, 1), 0), of_rank(steps_of(100'000, 2), 1)}};
  const Runs now = {{of_rank(steps_of(70'000, 3), 0)}};
  const Verification out = verify_runs(predicted(0.6, 0.7, 0.8), base, now, Claims::within_runs);
  EXPECT_EQ(out.outcome, VerifyOutcome::cannot_tell);
  EXPECT_NE(out.reason.find("rank 1 is missing in new"), std::string::npos) << out.reason;
}

TEST(Verification, MeasuresTheMedianStep) {
  const Verification faster = verify_runs(predicted(0.6, 0.7, 0.8), {{steps_of(100'000, 1)}},
                                          {{steps_of(70'000, 2)}}, Claims::within_runs);
  EXPECT_EQ(faster.outcome, VerifyOutcome::confirmed);
  EXPECT_NEAR(*faster.ratio(), 0.7, 1e-3);
  ASSERT_TRUE(faster.interval);
  EXPECT_NEAR(faster.interval->low, 0.7, 1e-3);
  const Verification same = verify_runs(predicted(0.6, 0.7, 0.8), {{steps_of(100'000, 1)}},
                                        {{steps_of(100'000, 2)}}, Claims::within_runs);
  EXPECT_EQ(same.outcome, VerifyOutcome::refuted);
}

TEST(Verification, OneRunASideCannotBeToldUnlessAsked) {
  const Verification out = verify_runs(predicted(0.6, 0.7, 0.8), {{steps_of(100'000, 1)}},
                                       {{steps_of(70'000, 2)}}, Claims::over_runs);
  EXPECT_EQ(out.outcome, VerifyOutcome::cannot_tell);
  EXPECT_TRUE(out.interval);
  EXPECT_NE(out.reason.find("6 pairs"), std::string::npos);
}

TEST(Verification, FewStepsCannotBeTold) {
  Profile few = steps_of(70'000, 2);
  few.lengths_ns.resize(5);
  const Verification out =
      verify_runs(predicted(0.6, 0.7, 0.8), {{steps_of(100'000, 1)}}, {{few}}, Claims::within_runs);
  EXPECT_EQ(out.outcome, VerifyOutcome::cannot_tell);
  EXPECT_TRUE(out.ratio());
  EXPECT_NE(out.reason.find("7 steps"), std::string::npos);
}

TEST(Verification, APredictionIsThatOfTheFindingOrOfItsRule) {
  Diagnosis diagnosis;
  diagnosis.input = "base.json";
  diagnosis.findings = {finding("fp64/mm", 500, 600, 800, 450),
                        finding("data-loading", 900, 920, 950, 100)};
  diagnosis.findings[0].alternatives = {finding("fp64/conv", 850, 900, 950, 120)};
  const std::string one[] = {"fp64/conv"};
  const Result<PredictedSaving> conv = prediction_of(diagnosis, one);
  ASSERT_TRUE(conv.ok());
  EXPECT_DOUBLE_EQ(conv->likely, 0.9);
  EXPECT_DOUBLE_EQ(conv->low, 0.85);
  const std::string rule[] = {"fp64"};
  const Result<PredictedSaving> both = prediction_of(diagnosis, rule);
  ASSERT_TRUE(both.ok());
  EXPECT_NEAR(both->likely, 0.5, 1e-9);
  EXPECT_NEAR(both->high, 0.75, 1e-9);
  // The low end of the smaller one is its bound, without the widening.
  EXPECT_NEAR(both->low, 0.5 - 0.12, 1e-9);
  const std::string several[] = {"fp64", "data-loading", "fp64/mm"};
  const Result<PredictedSaving> all = prediction_of(diagnosis, several);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->findings.size(), 3U);
}

TEST(Verification, WhatIsNotThereIsNamed) {
  Diagnosis diagnosis;
  diagnosis.input = "base.json";
  diagnosis.rules = {{.rule = "fp64", .kind = RuleResult::Kind::abstained, .reason = "no shapes"}};
  diagnosis.findings = {finding("zero-grad", 1, 1, 1, 1)};
  diagnosis.findings[0].predicted.reset();
  const auto refused = [&](const std::string& name) {
    const Result<PredictedSaving> out = prediction_of(diagnosis, std::span(&name, 1));
    EXPECT_FALSE(out.ok());
    return out.ok() ? std::string() : out.error().message;
  };
  EXPECT_NE(refused("fp64").find("could not judge: no shapes"), std::string::npos);
  EXPECT_NE(refused("fp46").find("did you mean 'fp64'?"), std::string::npos);
  EXPECT_NE(refused("quite-another-rule/x").find("has no rule 'quite-another-rule'"),
            std::string::npos);
  EXPECT_NE(refused("data-loading").find("found nothing"), std::string::npos);
  EXPECT_NE(refused("zero-grad").find("predicts no saving"), std::string::npos);
}

TEST(PredictionLedger, CountsOutcomesByRule) {
  Verification verification = verify_runs(predicted(0.6, 0.7, 0.8), {{steps_of(100'000, 1)}},
                                          {{steps_of(85'000, 2)}}, Claims::within_runs);
  EXPECT_EQ(verification.outcome, VerifyOutcome::less);
  std::string text = ledger_line(verification, "2026-11-23T20:50:00Z");
  verification.prediction.findings = {"fp64/mm", "fp64/conv", "data-loading"};
  verification.outcome = VerifyOutcome::confirmed;
  text += ledger_line(verification, "2026-11-23T20:51:00Z");
  text += "\nnot json\n{\"schema\": \"fathom.ledger/2\"}\n";
  const PredictionLedger ledger = parse_ledger(text);
  EXPECT_EQ(ledger.entries.size(), 2U);
  EXPECT_EQ(ledger.unreadable, 2U);
  EXPECT_EQ(ledger.entries[0].when, "2026-11-23T20:50:00Z");
  const std::vector<LedgerRow> rows = ledger_rows(ledger);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].rule, "fp64");
  EXPECT_EQ(rows[1].count[0], 1U);
  EXPECT_EQ(rows[1].count[1], 1U);
  EXPECT_EQ(rows[1].inside, 0U);
  EXPECT_NEAR(rows[1].median_share, 0.5, 1e-3);
}

TEST(PredictionLedger, ReadsWhatItWroteOfNothingMeasured) {
  const Verification verification{.prediction = predicted(0.6, 0.7, 0.8),
                                  .base = {},
                                  .now = {},
                                  .base_ns = {},
                                  .now_ns = {},
                                  .interval = {},
                                  .by_pairs = {},
                                  .basis = {},
                                  .reason = {}};
  const PredictionLedger ledger = parse_ledger(ledger_line(verification, "2026-11-23T20:50:00Z"));
  EXPECT_EQ(ledger.unreadable, 0U);
  ASSERT_EQ(ledger.entries.size(), 1U);
  EXPECT_FALSE(ledger.entries[0].measured);
  EXPECT_EQ(ledger_rows(ledger)[0].count[3], 1U);
  EXPECT_EQ(ledger_rows(ledger)[0].inside, 0U);
}

TEST(PredictionLedger, NothingInItCrashes) {
  EXPECT_TRUE(parse_ledger("").entries.empty());
  const PredictionLedger ledger =
      parse_ledger("{}\n[]\n\"\n{\"schema\": \"fathom.ledger/1\", \"findings\": []");
  EXPECT_EQ(ledger.unreadable, 4U);
}

}  // namespace
}  // namespace fathom
