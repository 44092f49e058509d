// memory-pressure: the machine or the container runs out of host memory.
#include <algorithm>

#include "base/quantity_text.h"
#include "rules/common/machine.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace memory_pressure_rule {
namespace {

constexpr std::string_view kDoc =
    "Where host memory runs out, the kernel takes pages from programs that still need them: they "
    "wait for pages to come back, and in a container the next thing is a kill. Fires where tasks "
    "waited for memory (PSI, some) for 1 % of the counted steps and memory is short (less than "
    "10 % of the machine's left, the container's own tasks waited, or it uses 95 % of its limit), "
    "where 1 MiB a second or more was "
    "swapped, where there were 10 major page faults a second together with less than 10 % of "
    "memory "
    "left, or where the container uses 95 % of its limit. Critical from 10 % waiting, or where a "
    "process was killed. Page caches count towards a container's use but are given back: a limit "
    "alone is a note. Sources: Linux, Documentation/accounting/psi.rst and cgroup-v2.rst.";

constexpr double kLeastWaiting = 1.0;
constexpr double kCriticalWaiting = 10.0;
constexpr double kSwapPerSecond = 1 << 20;
constexpr double kFaultsPerSecond = 10;
constexpr double kLittleLeft = 0.10;
constexpr double kNearLimit = 0.95;

struct Signs {
  double waiting = 0;  // percent of the time, the worse of machine and container
  double swapped = 0;  // bytes a second
  double faults = 0;   // a second
  double left = 1;     // share of the machine's memory
  double limit = 0;    // share of the container's
  double kills = 0;
  bool own = false;  // tasks of the container itself waited
  bool any = false;
  bool left_known = false;
  /// Whether memory is what is short. The machine's tasks also wait where one container of many is
  /// at its limit, and then nobody else is short of anything.
  [[nodiscard]] bool scarce() const {
    return own || !left_known || left < kLittleLeft || limit >= kNearLimit ||
           swapped >= kSwapPerSecond;
  }
};

Signs look(const MachineView& machine) {
  Signs signs;
  const auto take = [&](const std::optional<double>& value, double& into) {
    if (!value) return;
    into = std::max(into, *value);
    signs.any = true;
  };
  take(machine.percent("pressure.memory.some"), signs.waiting);
  const auto inside = machine.percent("cgroup.pressure.memory");
  take(inside, signs.waiting);
  signs.own = inside.value_or(0) >= kLeastWaiting;
  const auto in = machine.per_second("memory.swapped_in");
  const auto out = machine.per_second("memory.swapped_out");
  take(in && out ? std::optional(*in + *out) : std::nullopt, signs.swapped);
  take(machine.per_second("memory.major_faults"), signs.faults);
  take(machine.rise("cgroup.oom_kills"), signs.kills);
  const auto total = machine.level("memory.total");
  const auto available = machine.level("memory.available");
  if (total && available && total->most > 0) {
    signs.left = available->least / total->most;
    signs.any = true;
    signs.left_known = true;
  }
  const auto used = machine.level("cgroup.memory");
  const auto limit = machine.level("cgroup.memory_limit");
  if (used && limit && limit->most > 0) {
    signs.limit = used->most / limit->most;
    signs.any = true;
  }
  return signs;
}

void add_evidence(const MachineView& machine, const Signs& signs, Finding& finding) {
  const auto say = [&](std::string text) { finding.evidence.push_back(sentence(std::move(text))); };
  if (signs.waiting > 0) {
    say("tasks waited for memory during " + percent_text(signs.waiting) + " of the time");
  }
  if (signs.swapped >= kSwapPerSecond) {
    say(bytes_text(static_cast<std::int64_t>(signs.swapped)) + " swapped a second");
  }
  if (signs.faults >= 1) say(plain_text(signs.faults) + " page faults a second waited for a disk");
  if (const auto available = machine.level("memory.available")) {
    say("at least " + bytes_text(static_cast<std::int64_t>(available->least)) + " (" +
        percent_text(100 * signs.left) + ") of the machine's memory stayed available");
  }
  if (signs.limit > 0) {
    say("the container used up to " + percent_text(100 * signs.limit) + " of its limit");
  }
  if (signs.kills >= 1) say(plain_text(signs.kills) + " killed for lack of memory");
}

Fix fix_of(const Trace& trace) {
  const bool loader = frameworks_of(trace).loader;
  return {
      .text = std::string("Hold less on the host: ") +
              (loader ? "fewer or leaner loader workers (each holds its own copy of what it "
                        "touches), a smaller prefetch_factor, "
                      : "") +
              "memory-mapped data instead of lists in Python, data in parts instead of at once, "
              "pinned memory only for what is copied. Or give the program more." +
              (loader ? " Caveat: fewer workers may make the loader the limit." : ""),
      .before = loader ? "DataLoader(dataset, num_workers=4, prefetch_factor=4)" : "",
      .after = loader ? "DataLoader(dataset, num_workers=2, prefetch_factor=2)" : ""};
}

Outcome check(const RuleContext& rules) {
  const MachineView machine(rules);
  if (machine.empty()) return MachineView::abstention();
  const Signs signs = look(machine);
  if (!signs.any) return MachineView::abstention();
  const bool waits =
      (signs.waiting >= kLeastWaiting || signs.swapped >= kSwapPerSecond) && signs.scarce();
  const bool thrashes = signs.faults >= kFaultsPerSecond && signs.left < kLittleLeft;
  const bool near_limit = signs.limit >= kNearLimit;
  if (!waits && !thrashes && !near_limit && signs.kills < 1) return std::vector<Finding>{};
  Finding finding;
  finding.title = signs.kills >= 1    ? "A process was killed for lack of host memory"
                  : waits || thrashes ? "Host memory runs out: tasks wait for it during " +
                                            percent_text(signs.waiting) + " of the time"
                                      : "The container uses " + percent_text(100 * signs.limit) +
                                            " of its memory limit";
  finding.key = !waits && !thrashes && signs.kills < 1 ? "limit" : "";
  finding.family = Family::memory_capacity;
  finding.weight = signs.kills >= 1 || signs.waiting >= kCriticalWaiting ? Weight::critical
                   : waits || thrashes                                   ? Weight::warning
                                                                         : Weight::note;
  finding.confidence = waits ? Confidence::high : Confidence::medium;
  finding.effort = Effort::line;
  add_evidence(machine, signs, finding);
  finding.counter_evidence =
      near_limit && !waits ? "Caches of files count as used and are given back when needed; nobody "
                             "waited for memory."
                           : "Who waited may have been another program on this machine.";
  finding.fix = fix_of(rules.trace());
  finding.verify = "grep . /proc/pressure/memory";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace memory_pressure_rule

Rule memory_pressure() {
  return {.id = "memory-pressure",
          .title = "Host memory that runs out",
          .doc = memory_pressure_rule::kDoc,
          .check = memory_pressure_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
