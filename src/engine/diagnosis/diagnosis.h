// The diagnosis of one recording: baseline, accounting, verdict, and findings that divide the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/health/health.h"
#include "engine/diagnosis/baseline.h"
#include "engine/diagnosis/checklist.h"
#include "engine/diagnosis/rank_calls.h"
#include "engine/diagnosis/ranks.h"
#include "engine/diagnosis/run_summary.h"
#include "engine/session.h"
#include "rules/rule.h"
#include "stats/summary.h"

namespace fathom {

/// What is to be diagnosed.
struct DiagnosisRequest {
  std::optional<Selection::StepRange> steps;
  std::optional<std::int32_t> device;
  std::optional<WindowRequest> window;
  bool exclude_warmup = false;  ///< Leave out first steps that are longer than 1.5 × the median.
  std::string focus;            ///< A module, annotation or operator whose calls are diagnosed.
  const DeviceSpec* peaks = nullptr;  ///< Instead of the recorded device's. Borrowed.
  /// Of several ranks, the one to diagnose instead of the worst; compare_ranks() takes it.
  std::optional<std::int64_t> rank = {};
  /// Money and grams of CO2 per kilowatt-hour; negative: as recorded, else unknown.
  double price_per_kwh = -1;
  double carbon_g_per_kwh = -1;
};

enum class VerdictId : std::uint8_t {
  input_bound,
  io_bound,
  host_bound,
  sync_bound,
  transfer_bound,
  communication_bound,
  straggler,
  allocation_bound,
  warmup_in_window,  ///< The largest loss is what is done only once.
  compute_bound,
  memory_bandwidth_bound,
  latency_bound,
  memory_capacity_bound,
  physically_limited,
  balanced,
  // Of programs whose threads were sampled from outside, in place of cannot_tell:
  too_few_cores,       ///< Its threads wait for a processor.
  gil_contention,      ///< They wait for Python's global interpreter lock.
  lock_contention,     ///< They wait for locks that others of them hold.
  blocked_event_loop,  ///< One callback keeps all others waiting.
  cpu_bound,           ///< It computes most of the time.
  waiting,             ///< It waits most of the time.
  cannot_tell,
};
/// Stable, for JSON: "input-bound".
std::string_view to_string(VerdictId verdict);

/// Time per counted step that one family could give back at most.
struct FamilyTime {
  Family family = Family::capture;
  Duration per_step{};
  double percent = 0;  ///< Of the mean step.
};

struct Verdict {
  VerdictId id = VerdictId::cannot_tell;
  /// What it would be were the shares of two causes up to 5 points different, or what else it may
  /// be where the roofline shows too little of the device's kernels; in the order of VerdictId.
  std::vector<VerdictId> also;
  bool points_decide = false;        ///< `also` is not only there because roofs are not known.
  std::string sentence;              ///< Why, with its number.
  std::vector<FamilyTime> families;  ///< Largest first; what the verdict was chosen from.
};

/// The verdict and what it nearly is: "sync-bound or host-bound", in the order of the JSON: first
/// the one that the sentence is about.
std::string verdict_names(const Verdict& verdict);

/// Where a finding is shown; in this order.
enum class FindingPart : std::uint8_t {
  gain,     ///< Numbered, by what it saves.
  no_gain,  ///< It saves no time by itself.
  capture,  ///< A remark on the recording.
};
/// Stable, for JSON: "no_gain".
std::string_view to_string(FindingPart part);

/// A finding with its share of the step.
struct RankedFinding {
  std::string id;          ///< "rule" or "rule/key": stable between recordings of one program.
  std::string_view phase;  ///< "bottleneck", "component" or "operation".
  Finding finding;         ///< Claims cut down to what was granted.
  /// Per counted step: the time that the finding is about, before it is divided among findings.
  Duration observed{};
  Duration upper_bound{};  ///< Per counted step: what no stronger finding has claimed.
  double percent = 0;      ///< upper_bound of `step`.
  /// Per counted step: what it claims of time that was granted to stronger findings.
  Duration shared{};
  Duration step{};  ///< Mean length of the steps that the finding is about.
  /// Predicted saving per counted step; unset where the finding predicts nothing.
  struct Gain {
    Duration low{};
    Duration likely{};
    Duration high{};
  };
  std::optional<Gain> gain;
  /// Likely gain where the changes of all findings of other causes are made, too: what hides behind
  /// them is more then. Set where that was replayed; at least the likely gain, at most the bound.
  std::optional<Duration> after_others;
  /// Mean step time of another recording after the change: the gain's ends, widened by what
  /// recordings of one program differ by. Set where the gain is.
  struct StepTime {
    Duration low{};
    Duration likely{};
    Duration high{};
  };
  std::optional<StepTime> predicted;
  /// Likely step time after the change without a profiler; see Diagnosis::unprofiled_step.
  std::optional<Duration> unprofiled;
  std::uint32_t quick_win = 0;  ///< Place in the order of gain per effort, from 1.
  FindingPart part = FindingPart::gain;
  std::uint32_t number = 0;  ///< Place among the findings that save time, from 1; 0 for others.
  /// What else was found of the same cause; none of them has alternatives of its own.
  std::vector<RankedFinding> alternatives;
};

/// Is a saving predicted, or was at least time claimed that matters?
bool saves_time(const RankedFinding& ranked);
/// Does it save more once the others are changed, by an amount worth a word?
bool hides_behind_others(const RankedFinding& ranked);
/// The rules of a card's alternatives, each once, without the card's own.
std::vector<std::string_view> rules_merged_into(const RankedFinding& card);

/// What the first findings save when all of them are changed: one replay, for savings do not add
/// up.
struct Together {
  std::vector<std::uint32_t> numbers;  ///< Of the findings.
  Duration step{};                     ///< Mean step before.
  RankedFinding::Gain gain;
  RankedFinding::StepTime predicted;
};

/// What became of each rule.
struct RuleResult {
  std::string_view rule;
  enum class Kind : std::uint8_t { found, silent, abstained } kind = Kind::silent;
  std::string reason;  ///< Why it abstained.
};

/// The accounting of the counted steps together.
struct StepAccount {
  std::int64_t number = 0;
  Interval window{};
  Account account;                            ///< Of the diagnosed device.
  std::array<Duration, kHostBuckets> host{};  ///< Of the main thread, without a device.
  bool outlier = false;                       ///< Far longer than the others.
};

/// Operators of the main thread in a range of the program around the passes.
struct RangeTime {
  std::string name;
  Duration time{};
};

struct Diagnosis {
  std::string input;
  Time start{};  ///< Of the trace. Times are shown from there, as --window counts.
  Health health;
  std::string step_name;  ///< What repeats: "ProfilerStep*"; empty for a whole trace.
  std::string step_note;  ///< How steps were found, where that is not plain.
  Summary step_ns;        ///< Of the counted steps' windows.
  Summary usual_ns;       ///< The same without outliers, of which verdict and most findings are.
  Baseline baseline;      ///< What else is known of them.
  /// Estimated mean time of a usual step without a profiler; unset where Python frames or a device
  /// were recorded, for then it is not known what recording delays.
  std::optional<Duration> unprofiled_step;
  std::size_t steps_left_out = 0;             ///< Edge steps and warm-up.
  std::int32_t device = -1;                   ///< The one that is diagnosed, or -1.
  std::string device_name;                    ///< As recorded; may be empty.
  std::size_t devices = 0;                    ///< With activity in the trace.
  Account account;                            ///< Σ over the counted steps; sums to their windows.
  std::array<Duration, kHostBuckets> host{};  ///< The same of the main thread, without a device.
  /// The same over the steps that are no outliers.
  Account usual_account;
  std::array<Duration, kHostBuckets> usual_host{};
  /// Parts of the other operators in `usual_host`, the largest first; see Phases::ranges.
  std::vector<RangeTime> usual_ranges;
  std::vector<StepAccount> steps;
  Verdict verdict;
  /// One card per cause: by part, then by worth; see make_cards().
  std::vector<RankedFinding> findings;
  std::optional<Together> together;  ///< Unset where fewer than two of the first have a gain.
  std::vector<RuleResult> rules;     ///< In the order of all_rules().
  Residuals residuals;               ///< How much of the replay no edge explains.
  std::vector<ChecklistItem> checklist;
  std::vector<std::string> notes;  ///< What was assumed or left out.
  std::string narrower;            ///< What to focus on next; may be empty.
  /// The table of a recording that is only a profile, "hot" or "functions"; else empty.
  std::string_view profile;
  std::optional<RunSummary> run;  ///< Where the recording is that of a session folder.
  RankCalls rank_calls;           ///< Collectives, to be compared with those of other ranks.
  std::optional<Ranks> ranks;     ///< Of several ranks, of which this is one.
};

/// Places in `findings` of those with a number, most gain per effort first; empty where that is the
/// order of gain. O(n log n).
std::vector<std::size_t> quick_wins(const Diagnosis& diagnosis);

/// Deterministic. Errors: invalid_argument for a selection that the trace does not have.
Result<Diagnosis> diagnose(const Session& session, const DiagnosisRequest& request);

}  // namespace fathom
