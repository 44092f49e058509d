// Goes through the profiling checklist.
#include "engine/diagnosis/checklist.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/quantity_text.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/overhead_note.h"
#include "rules/common/evidence.h"
#include "rules/common/recorded.h"

namespace fathom {
namespace {

using Status = ChecklistStatus;
/// Met or not, and why.
using Judgement = std::pair<Status, std::string>;

constexpr std::size_t kFewSteps = 3;
/// Recording that takes more of a step, in percent, changes what it records.
constexpr double kMostOverhead = 10.0;
/// A mean that is known worse, in percent, tells no change that is worth making from none.
constexpr double kWorstError = 10.0;
constexpr std::string_view kNoTelemetry = "a trace alone does not hold it, a session folder does";

class Checklist {
 public:
  Checklist(const RuleContext& rules, const Diagnosis& diagnosis)
      : rules_(rules), diagnosis_(diagnosis) {}

  std::vector<ChecklistItem> items() {
    add("representative", "Representative", representative());
    add("warmed_up", "Warmed up", warmed_up());
    add("long_enough", "Long enough", long_enough());
    add("synchronised", "Synchronised", synchronised());
    add("complete", "Complete", complete());
    add("device_recorded", "Device recorded", device());
    add("shapes_recorded", "Shapes recorded", option("shapes_recorded"));
    add("stacks_recorded", "Stacks recorded", stacks());
    add("memory_recorded", "Memory recorded", option("memory_recorded"));
    add("little_overhead", "Little overhead", overhead());
    add("steady_machine", "Steady clocks and power",
        by_rule("throttling", "no clock was held back"));
    add("alone", "Alone on the machine", by_rule("neighbour", "no other program took part of it"));
    add("conditions", "Conditions written down", conditions());
    add("baseline_saved", "Baseline saved", baseline_saved());
    return std::move(items_);
  }

 private:
  void add(std::string_view id, std::string_view title, Judgement judgement) {
    items_.push_back({.id = id,
                      .title = title,
                      .status = judgement.first,
                      .reason = std::move(judgement.second)});
  }

  /// The first finding of that rule (and of these keys, where any are named), or nullptr.
  [[nodiscard]] const Finding* found(std::string_view rule,
                                     std::initializer_list<std::string_view> keys = {}) const {
    for (const RankedFinding& card : diagnosis_.findings) {
      if (matches(card.finding, rule, keys)) return &card.finding;
      for (const RankedFinding& other : card.alternatives) {
        if (matches(other.finding, rule, keys)) return &other.finding;
      }
    }
    return nullptr;
  }
  static bool matches(const Finding& finding, std::string_view rule,
                      std::initializer_list<std::string_view> keys) {
    return finding.rule == rule &&
           (keys.size() == 0 || std::ranges::find(keys, finding.key) != keys.end());
  }
  [[nodiscard]] const RuleResult* outcome(std::string_view rule) const {
    const auto at = std::ranges::find(diagnosis_.rules, rule, &RuleResult::rule);
    return at == diagnosis_.rules.end() ? nullptr : &*at;
  }

  [[nodiscard]] Judgement representative() const {
    if (const Finding* const other =
            found("profiling-mistakes", {"on-cpu", "eval-mode", "train-mode"}))
      return {Status::not_met, other->title};
    if (diagnosis_.step_name.empty())
      return {Status::not_met, "no steps are marked: nothing shows what repeats"};
    const std::size_t odd = diagnosis_.step_ns.count - diagnosis_.usual_ns.count;
    return {Status::met, counted_noun(diagnosis_.usual_ns.count, "step") +
                             " of the program's loop" +
                             (odd == 0 ? "" : ", " + std::to_string(odd) + " more are outliers")};
  }

  [[nodiscard]] Judgement warmed_up() const {
    if (const Finding* const first = found("warmup-in-window"))
      return {Status::not_met, first->title};
    if (const Finding* const compiled = found("recompilation", {"first-step"}))
      return {Status::not_met, compiled->title};
    if (rules_.steps.empty()) return {Status::not_recordable, "no step counts"};
    return {Status::met, "nothing in the counted steps is done only once"};
  }

  [[nodiscard]] Judgement long_enough() const {
    const Summary& step = diagnosis_.step_ns;
    if (step.count < kFewSteps)
      return {Status::not_met,
              counted_noun(step.count, "step") + ", where statistics need at least 3"};
    const double error =
        step.mean > 0 ? 196 * step.stddev / step.mean / std::sqrt(static_cast<double>(step.count))
                      : 0;
    const bool known = error <= kWorstError;
    return {known ? Status::met : Status::not_met,
            counted_noun(step.count, "step") + "; their mean is known " +
                (known ? "to " : "only to ") + percent_text(error) + " (95 % interval)" +
                (known ? "" : ": record more of them")};
  }

  [[nodiscard]] Judgement synchronised() const {
    if (rules_.device < 0)
      return device_unrecorded(rules_)
                 ? Judgement{Status::not_met, "work was launched that the recording does not hold"}
                 : Judgement{Status::met, "no device whose work could be missing"};
    const HealthCheck* const check = diagnosis_.health.find("launches_without_activity");
    if (check != nullptr && check->status >= CheckStatus::warning)
      return {Status::not_met, check->sentence()};
    return {Status::met, "steps end with the last work that they launched, and none is missing"};
  }

  [[nodiscard]] Judgement complete() const {
    const HealthCheck* worst = nullptr;
    for (const HealthCheck& check : diagnosis_.health.checks) {
      const bool judged = check.section != "steps" && check.section != "recording";
      if (judged && check.status >= CheckStatus::warning &&
          (worst == nullptr || check.status > worst->status))
        worst = &check;
    }
    if (worst != nullptr) return {Status::not_met, worst->sentence()};
    return {Status::met, "nothing is known to be lost, out of order or out of range"};
  }

  [[nodiscard]] Judgement device() const {
    if (rules_.device >= 0)
      return {Status::met, counted_noun(diagnosis_.devices, "device") + " with activity"};
    if (device_unrecorded(rules_))
      return {Status::not_met, "kernels were launched, and none was recorded"};
    return {Status::not_recordable, "nothing was launched onto a device"};
  }

  [[nodiscard]] Judgement option(std::string_view id) const {
    const HealthCheck* const check = diagnosis_.health.find(id);
    if (check == nullptr || check->status == CheckStatus::not_applicable)
      return {Status::not_recordable, "no operators were recorded that could have them"};
    if (check->status == CheckStatus::ok) return {Status::met, "the recording has them"};
    return {Status::not_met, check->sentence() + " (" + check->advice + ")"};
  }

  /// Recorded lines say where the program calls, too.
  [[nodiscard]] Judgement stacks() const {
    Judgement judgement = option("stacks_recorded");
    if (judgement.first == Status::not_met && rules_.sites.lines() != nullptr)
      return {Status::met, "the recording has the line of each moment instead"};
    return judgement;
  }

  [[nodiscard]] Judgement overhead() const {
    if (diagnosis_.run && diagnosis_.run->overhead) {
      const RecordingOverhead& measured = *diagnosis_.run->overhead;
      if (const auto ends = overhead_interval(rules_.trace());
          ends && is_little(ends->low) && !is_little(ends->high))
        return {Status::not_met, "not known: recorded steps took " + ends->low + " to " +
                                     ends->high +
                                     " times as long as others of this run (95 % interval; " +
                                     count_text(measured.profiled_steps) + " and " +
                                     count_text(measured.unprofiled_steps) + " steps)"};
      return {measured.percent() <= kMostOverhead ? Status::met : Status::not_met,
              overhead_sentence(measured)};
    }
    return by_rule("profiler-overhead",
                   "estimated to take less than " + percent_text(kMostOverhead) + " of the step");
  }

  static bool is_little(const std::string& ratio) {
    return RecordingOverhead{.ratio = std::strtod(ratio.c_str(), nullptr)}.percent() <=
           kMostOverhead;
  }

  /// Met where the rule looked and found nothing.
  [[nodiscard]] Judgement by_rule(std::string_view rule, std::string met) const {
    if (const Finding* const finding = found(rule)) return {Status::not_met, finding->title};
    const RuleResult* const result = outcome(rule);
    if (result == nullptr || result->kind != RuleResult::Kind::abstained)
      return result == nullptr ? Judgement{Status::not_recordable, "no step counts"}
                               : Judgement{Status::met, std::move(met)};
    return {Status::not_recordable, diagnosis_.run ? result->reason : std::string(kNoTelemetry)};
  }

  [[nodiscard]] Judgement conditions() const {
    if (diagnosis_.run)
      return {Status::met, "the session folder has the command, the machine and the versions"};
    return {Status::not_recordable,
            "a trace alone holds at most the device and the driver, a session folder all of them"};
  }

  [[nodiscard]] Judgement baseline_saved() const {
    if (!diagnosis_.run)
      return {Status::not_recordable,
              "a trace alone holds no steps without the profiler, a session folder may"};
    if (diagnosis_.run->overhead)
      return {Status::met,
              "the session folder has " +
                  counted_noun(static_cast<std::size_t>(diagnosis_.run->overhead->unprofiled_steps),
                               "step") +
                  " without the profiler, median " +
                  duration_text(diagnosis_.run->overhead->unprofiled)};
    return {Status::not_met, "no step was timed without the profiler"};
  }

  const RuleContext& rules_;
  const Diagnosis& diagnosis_;
  std::vector<ChecklistItem> items_;
};

}  // namespace

std::string_view to_string(ChecklistStatus status) {
  constexpr std::string_view kNames[] = {"met", "not_met", "not_recordable"};
  return kNames[static_cast<std::size_t>(status)];
}

std::vector<ChecklistItem> make_checklist(const RuleContext& rules, const Diagnosis& diagnosis) {
  return Checklist(rules, diagnosis).items();
}

}  // namespace fathom
