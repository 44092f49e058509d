// Did a change save what a finding predicted?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/check.h"
#include "compare/runs.h"
#include "compare/time_ratio.h"
#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// The mean step after the change by the one before, as findings of a diagnosis predict it.
struct PredictedSaving {
  std::vector<std::string> findings;  ///< Their ids.
  std::vector<std::string> titles;
  double low = 1;
  double likely = 1;
  double high = 1;
};

/// What findings predict together. A name is a finding's id or its rule; a rule stands for all of
/// its findings. Savings of several are added, and widened once by what recordings of one program
/// differ by. Errors, each with what to do: not_found where there is no such rule (any more), where
/// it found nothing in this recording, or where it predicts no saving.
Result<PredictedSaving> prediction_of(const Diagnosis& diagnosis,
                                      std::span<const std::string> names);

enum class VerifyOutcome : std::uint8_t {
  /// Certainly faster; the interval reaches what was predicted, and the estimate lies within it or
  /// saves more.
  confirmed,
  less,     ///< Certainly faster, and certainly by less than predicted.
  refuted,  ///< Certainly not what was predicted, and not certainly faster.
  /// The interval holds both what was predicted and no change; or what was predicted, and the
  /// estimate saves less; or there is none.
  cannot_tell,
};
/// Stable, for JSON: "less_than_predicted".
std::string_view to_string(VerifyOutcome outcome);
/// For people: "less than predicted".
std::string_view title_of(VerifyOutcome outcome);

struct Verification {
  PredictedSaving prediction;
  std::vector<std::string> base;  ///< Inputs.
  std::vector<std::string> now;
  std::optional<double> base_ns;  ///< Median step.
  std::optional<double> now_ns;
  std::optional<Bounds> interval;  ///< Of the median step after by that before, at 95 %.
  /// What the interval is of where it is of pairs of runs: the median of their ratios.
  std::optional<double> by_pairs;
  std::string basis;   ///< What the interval is of.
  std::string reason;  ///< Why it is unknown; else what to know.
  VerifyOutcome outcome = VerifyOutcome::cannot_tell;

  [[nodiscard]] std::optional<double> ratio() const;  ///< Of the medians.
};

/// A ratio that was measured: its interval, and the estimate in it.
struct MeasuredRatio {
  Bounds interval;
  double estimate = 1;
};

/// By the measured ratio and the ends of the predicted one.
VerifyOutcome outcome_of(const PredictedSaving& prediction, const MeasuredRatio& measured);

/// The measurement is that of a budget of step_time (compare/check.h), with its conditions: times
/// of another device, processor or batch are undecided; so is another clock where cycles have
/// another outcome, and a rank that one side lacks. Of ranks that with the worst outcome of "no
/// slower" counts.
Verification verify_runs(const PredictedSaving& prediction, const Runs& base, const Runs& now,
                         Claims claims);

}  // namespace fathom
