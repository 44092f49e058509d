// throttling: the GPU runs below its clocks, for heat or power.
#include <algorithm>
#include <array>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/machine.h"
#include "rules/rule.h"

namespace fathom {
namespace throttling_rule {
namespace {

constexpr std::string_view kDoc =
    "A GPU that is too hot, that meets its power limit or whose supply asks for less lowers its "
    "clocks, and everything on it takes longer. Telemetry shows why (NVML's clock event reasons) "
    "and how far clocks fell. Counted is time in which a limiting reason holds: heat, as the "
    "driver or the hardware sees it, a power brake, or the power limit. Fires where one holds for "
    "10 % of the counted steps and the clock of the processors is 5 % or more below the highest "
    "that the board allows (where that is not recorded: the highest of this recording). Most large "
    "GPUs meet their power limit in long matrix multiplications, by design; so a power limit is a "
    "warning only from 15 % on. The loss is bounded by the clock: kernels bound by arithmetic take "
    "as much longer as the clock is lower, those bound by memory less. Where reasons were not "
    "recorded, a clock that is as low counts as held down at 85 degrees Celsius or 80 % of the "
    "power limit, with less confidence; a GPU of 85 degrees whose clock is high is a note. "
    "Sources: TraceML (85 degrees, 80 %); NVML's nvmlClocksEventReasons; NVIDIA's documentation of "
    "nvidia-smi -q -d PERFORMANCE.";

constexpr double kLeastHeld = 0.10;
constexpr double kLeastDrop = 0.05;
constexpr double kWarningDrop = 0.15;
/// A GPU that computes for less than this lowers its clocks because it may.
constexpr double kLeastUse = 20.0;

/// From these on heat and power are worth a word.
constexpr double kHot = 85.0;
constexpr double kMuchPower = 0.8;

constexpr std::string_view kReasonPrefix = "gpu.throttle.";

struct Reason {
  std::string_view counter;
  std::string_view text;
  bool heat;
};
constexpr auto kReasons = std::to_array<Reason>({
    {"gpu.throttle.hw_thermal", "too hot, by the hardware's measure", true},
    {"gpu.throttle.sw_thermal", "too hot, by the driver's measure", true},
    {"gpu.throttle.power_brake", "the power supply asks for less", false},
    {"gpu.throttle.hw_slowdown", "slowed down by the hardware", true},
    {"gpu.throttle.power_cap", "at its power limit", false},
    {"gpu.throttle.clock_setting", "clocks were set lower by somebody", false},
});

/// What telemetry without reasons shows.
constexpr Reason kSeemsHot{"gpu.temperature", "at 85 °C or more", true};
constexpr Reason kSeemsPower{"gpu.power", "at 80 % of its power limit or more", false};

struct Held {
  const Reason* reason = nullptr;
  double share = 0;
};

Held longest(const MachineView& machine, std::int32_t gpu) {
  Held most;
  for (const Reason& reason : kReasons) {
    const auto level = machine.level(reason.counter, gpu);
    if (level && level->mean > most.share) most = {&reason, level->mean};
  }
  return most;
}

/// The clock that the GPU could run at: the board's highest, else the highest that was seen.
std::optional<double> best_clock(const MachineView& machine, std::int32_t gpu) {
  const auto board = machine.most_ever("gpu.sm_clock_max", gpu);
  return board ? board : machine.most_ever("gpu.sm_clock", gpu);
}

Fix fix_of(const Held& held) {
  if (held.reason->heat) {
    return {.text =
                "Cool it: clean filters and fans, let cool air reach the board, raise the fan "
                "curve, move work off the neighbouring boards. Until then a lower power limit "
                "(nvidia-smi -pl) gives steadier clocks.",
            .before = "",
            .after = ""};
  }
  if (held.reason->counter == "gpu.throttle.clock_setting") {
    return {.text =
                "Somebody has set the clocks. Caveat: it may be on purpose, for steady "
                "measurements or to save energy.",
            .before = "",
            .after = "sudo nvidia-smi -rgc"};
  }
  return {
      .text =
          "Raise the power limit as far as the board and its cooling allow, or accept it: fewer "
          "bytes moved and fewer bits per number need less power for the same work.",
      .before = "",
      .after = "nvidia-smi -q -d POWER   # then, as root: nvidia-smi -pl WATTS"};
}

/// Kernels, whose time shrinks with the clock.
void claim_kernels(const RuleContext& rules, double drop, Finding& finding) {
  Blamed blamed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (rules.trace().kind(activity) == SliceKind::kernel) blamed.add(rules, activity, op);
  });
  claim_blamed(rules, blamed, drop, finding);
}

/// The share of its power limit that the GPU draws.
std::optional<double> power_share(const MachineView& machine, std::int32_t gpu) {
  const auto power = machine.level("gpu.power", gpu);
  const auto limit = machine.most_ever("gpu.power_limit", gpu);
  if (!power || !limit || *limit <= 0) return {};
  return power->mean / *limit;
}

/// Without recorded reasons: heat or power that may hold the clock down.
Held suspected(const MachineView& machine, std::int32_t gpu) {
  const auto heat = machine.level("gpu.temperature", gpu);
  if (heat && heat->mean >= kHot) return {.reason = &kSeemsHot, .share = 1};
  const auto power = power_share(machine, gpu);
  if (power && *power >= kMuchPower) return {.reason = &kSeemsPower, .share = 1};
  return {};
}

void add_conditions(const MachineView& machine, std::int32_t gpu, Finding& finding) {
  if (const auto heat = machine.level("gpu.temperature", gpu))
    finding.evidence.push_back(sentence("up to " + plain_text(heat->most) + " °C"));
  if (const auto power = machine.level("gpu.power", gpu)) {
    const auto limit = machine.most_ever("gpu.power_limit", gpu);
    finding.evidence.push_back(
        sentence(unit_text(power->mean, "W") + " on average" +
                 (limit ? ", of " + unit_text(*limit, "W") + " allowed" : std::string())));
  }
}

/// A hot GPU that is not slower for it, so far as is known.
std::vector<Finding> only_hot(const MachineView& machine, std::int32_t gpu) {
  const auto heat = machine.level("gpu.temperature", gpu);
  if (!heat || heat->most < kHot) return {};
  Finding finding;
  finding.key = "heat";
  finding.title = "The GPU is hot: up to " + plain_text(heat->most) + " °C";
  finding.family = Family::physical;
  finding.weight = Weight::note;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::redesign;
  add_conditions(machine, gpu, finding);
  finding.counter_evidence =
      "No clock was seen to fall for it in these steps; boards differ in how hot they may be.";
  finding.fix = fix_of({.reason = &kSeemsHot, .share = 1});
  finding.verify = "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE";
  return {std::move(finding)};
}

Weight weight_of_drop(const Reason& reason, double drop) {
  const bool normal = reason.counter == "gpu.throttle.power_cap" || &reason == &kSeemsPower;
  return !normal && drop >= kWarningDrop   ? Weight::critical
         : !normal || drop >= kWarningDrop ? Weight::warning
                                           : Weight::note;
}

Finding slowed(const RuleContext& rules, const MachineView& machine, std::int32_t gpu,
               const Held& held, double drop) {
  const bool known = held.reason->counter.starts_with(kReasonPrefix);
  const auto clock = machine.level("gpu.sm_clock", gpu);
  Finding finding;
  finding.key = std::string(known ? held.reason->counter.substr(kReasonPrefix.size())
                                  : held.reason->counter.substr(std::string_view("gpu.").size()));
  finding.title = "The GPU runs " + percent_text(100 * drop) +
                  " below its clock: " + std::string(held.reason->text);
  finding.family = Family::physical;
  finding.weight = weight_of_drop(*held.reason, drop);
  finding.confidence = known ? Confidence::high : Confidence::medium;
  finding.effort = Effort::redesign;
  finding.evidence.push_back(
      sentence((known ? std::string(held.reason->counter) + " holds for " +
                            percent_text(100 * held.share) + " of the time"
                      : std::string("why the clock is lower was not recorded")) +
               "; the clock is " + unit_text(clock->mean, "MHz") + " on average, least " +
               unit_text(clock->least, "MHz") + ", of " +
               unit_text(*best_clock(machine, gpu), "MHz") + " at best"));
  add_conditions(machine, gpu, finding);
  finding.counter_evidence =
      "Kernels bound by memory hardly notice a lower clock of the processors, and few "
      "programs can hold the board's highest clock for long.";
  finding.fix = fix_of(held);
  finding.verify = "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE";
  claim_kernels(rules, drop, finding);
  finding.assumption = "kernels run as much faster as the clock could be higher";
  finding.pessimism = 0.2;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const MachineView machine(rules);
  if (machine.empty()) return MachineView::abstention();
  const auto gpu = machine.gpu();
  if (!gpu) return Abstention{"telemetry does not show which GPU the program used"};
  const auto use = machine.level("gpu.utilization", *gpu);
  if (use && use->mean < kLeastUse) return std::vector<Finding>{};
  const auto clock = machine.level("gpu.sm_clock", *gpu);
  const auto best = best_clock(machine, *gpu);
  const bool clocks = clock && best && *best > 0;
  const bool reasons = machine.level("gpu.clock_reasons", *gpu).has_value();
  const double drop = clocks ? 1 - clock->mean / *best : 0;
  const Held held = reasons ? longest(machine, *gpu) : suspected(machine, *gpu);
  if (held.reason != nullptr && held.share >= kLeastHeld && drop >= kLeastDrop)
    return std::vector<Finding>{slowed(rules, machine, *gpu, held, drop)};
  std::vector<Finding> hot = only_hot(machine, *gpu);
  if (hot.empty() && (!clocks || !reasons)) {
    return Abstention{
        "the GPU's clocks and why they are lower were not recorded for these steps: record with "
        "fathom run on a GPU whose driver reports them"};
  }
  return hot;
}

}  // namespace
}  // namespace throttling_rule

Rule throttling() {
  return {.id = "throttling",
          .title = "A GPU slowed down by heat or power",
          .doc = throttling_rule::kDoc,
          .check = throttling_rule::check,
          .every_step = true,
          .without_operators = true,
          .hint = VerdictHint::hardware};
}

}  // namespace fathom
