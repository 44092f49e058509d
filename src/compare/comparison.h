// A comparison of two recordings: what changed, where, and by what cause.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/align.h"
#include "compare/cause.h"
#include "compare/profile.h"
#include "stats/sample.h"
#include "stats/warm_up.h"

namespace fathom {

/// One side, described.
struct ComparedSide {
  std::string input;
  std::string step_name;
  SampleSummary step_ns;  ///< Of the usual steps.
  std::int64_t steps = 0;
  std::size_t steps_left_out = 0;
  bool on_device = false;
  bool times_only = false;  ///< Steps are whole runs; `step_name` is what was measured of them.
  /// When the usual steps became steady; unset where they are few, or of several runs.
  std::optional<WarmUp> warm_up;
  double autocorrelation = 0;  ///< Of a step with the next; 0 of several runs.
  [[nodiscard]] bool never_steady() const {
    return warm_up && warm_up->kind == Steadiness::never_steady;
  }
};

/// Part of a sum: all changes of one level sum exactly to that of the level above.
struct ComparedPart {
  std::int64_t base_sum_ns = 0;  ///< Over the steps of that side.
  std::int64_t new_sum_ns = 0;
  std::int64_t base_calls = 0;
  std::int64_t new_calls = 0;
  std::int64_t change_ns = 0;  ///< Per step, rounded by largest remainder.
};

struct ComparedKernel {
  SharedText name;
  ComparedPart part;
};

/// The k-th calls of each step.
struct ComparedOccurrence {
  std::optional<std::size_t> number;  ///< From 1 on; unset of those that are not listed, together.
  ComparedPart part;
};

/// Work that is the same on both sides, or is on one only.
struct ComparedRow {
  Alignment alignment = Alignment::module_operator_shapes;
  AnyBucket bucket;
  SharedText phase;   ///< "forward"; of what a device does not do the name of its rest: phase_of().
  SharedText module;  ///< "" where none is known, or not the same for all of it.
  SharedText what;    ///< "aten::mm"; "aten::pow, aten::tanh → aten::gelu".
  SharedText shapes;  ///< Where one list of shapes is all of it.
  SharedText place;   ///< "train.py:42", where recorded.
  ComparedPart part;
  /// The change divided by Shapley: by more calls at the mean time per call of both sides, and by
  /// more time per call at the mean number of calls. Unset where a side has no calls to count.
  std::optional<std::int64_t> calls_change_ns;
  std::optional<std::int64_t> time_change_ns;
  /// The change by time per call divided likewise: by the clock at the mean cycles of both sides,
  /// and by cycles at the mean of both clocks. Unset where a clock is not known.
  std::optional<std::int64_t> clock_change_ns;
  std::optional<std::int64_t> cycles_change_ns;
  Cause cause = Cause::none;
  std::string detail;  ///< What shows the cause: "600 → 2 calls per step".
  std::vector<ComparedKernel> kernels;
  /// Of the same module, operator and shapes with several calls in a step: those that changed most,
  /// then the rest of them. They sum to the row.
  std::vector<ComparedOccurrence> occurrences;
  std::size_t calls_in_step = 0;  ///< Of the side that has more of them, the most in a step.
};

struct ComparedBucket {
  AnyBucket bucket;
  ComparedPart part;
  std::vector<std::size_t> rows;  ///< Of Comparison::rows.
};

/// A module in a phase.
struct ComparedModule {
  SharedText module;  ///< "" for what lies in none.
  ComparedPart part;
  std::vector<std::size_t> rows;  ///< Of Comparison::rows, the largest change first.
};

/// Everything that a phase takes, or one named rest.
struct ComparedPhase {
  SharedText phase;
  ComparedPart part;
  std::vector<ComparedModule> modules;  ///< Largest change first.
};

/// Rows that changed in the same direction by the same cause.
struct CauseGroup {
  Cause cause = Cause::none;
  std::int64_t change_ns = 0;
  std::vector<std::size_t> rows;  ///< Of Comparison::rows, the largest change first.
};

struct ComparedCounter {
  std::string id;
  std::string title;
  std::string unit;
  bool per_step = true;
  std::optional<std::int64_t> base;  ///< Sum over the steps; unset where not recorded.
  std::optional<std::int64_t> now;
  bool equal = false;  ///< Per step, exactly.
};

struct ComparedCondition {
  std::string id;
  std::string title;
  std::string base;  ///< Empty where not recorded.
  std::string now;
};

/// How far two recordings may be compared.
enum class Comparability : std::uint8_t {
  same_recording,
  comparable,
  /// Less than half of the operators' time is in work that both have, and neither side is the other
  /// with something added: half of its time in operators with the same shapes.
  different_work,
  different_devices,  ///< One accounting is of a device, the other of a main thread.
  times_only,         ///< A side has times, and not what they went into.
};
/// Stable, for JSON: "same_recording".
std::string_view to_string(Comparability comparability);

struct Comparison {
  ComparedSide base;
  ComparedSide now;
  Comparability comparability = Comparability::comparable;
  std::vector<ComparedCondition> differs;  ///< Conditions that differ or that one side lacks.
  /// Median of the usual steps, new less base, in whole ns: what buckets and `skew` sum to.
  std::int64_t change_ns = 0;
  double ratio = 1;                      ///< Of the medians, new by base.
  std::optional<Bounds> ratio_interval;  ///< Within these runs, at 95 %.
  bool covers_runs = false;              ///< The interval covers how runs vary.
  std::string ratio_note;                ///< Why it is unset, or what it does not cover.
  std::int64_t mean_change_ns = 0;       ///< What the buckets sum to.
  /// Median less mean: change_ns - mean_change_ns.
  std::int64_t skew_ns = 0;
  std::vector<ComparedBucket> buckets;  ///< Largest change first; those with time on a side.
  std::vector<ComparedRow> rows;        ///< Largest change first. Empty where withheld.
  /// The same rows by phase and module: modules sum to their phase, phases to the change of the
  /// mean. Largest change first. Empty where withheld.
  std::vector<ComparedPhase> phases;
  /// Those in the direction of the whole change first, the largest first; then those against it,
  /// then noise. Empty where withheld.
  std::vector<CauseGroup> causes;
  /// Share of the time in operators, of both sides together, that was matched by each key; all 0
  /// where neither has any.
  std::array<double, kAlignments> aligned{};
  /// Of that by module, operator and shapes, what each side has in the same call of a step.
  double aligned_by_occurrence = 0;
  /// Share of each side's time in operators that has a counterpart; 0 where it has no operators.
  double base_aligned = 0;
  double new_aligned = 0;
  std::vector<ComparedCounter> counters;
  std::vector<std::string> notes;
};

/// Those whose values differ or that one side lacks, in the order of base.
std::vector<ComparedCondition> differing_conditions(const std::vector<Condition>& base,
                                                    const std::vector<Condition>& now);
/// Adds what differs on this rank and on none before: "seed of torch of rank 1".
void add_of_rank(std::vector<ComparedCondition>& differs, std::int64_t rank,
                 const std::vector<ComparedCondition>& more);

/// Deterministic. O(n log n) in the rows.
Comparison compare_profiles(const Profile& base, const Profile& now);

}  // namespace fathom
