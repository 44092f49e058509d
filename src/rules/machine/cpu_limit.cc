// cpu-limit: the container's share of processors is used up.
#include <algorithm>

#include "base/quantity_text.h"
#include "rules/common/machine.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace cpu_limit_rule {
namespace {

constexpr std::string_view kDoc =
    "A container with a limit of processors (cpu.max, --cpus, resources.limits.cpu) is stopped for "
    "the rest of each period, usually 100 ms, once its threads have used the period's share: all "
    "of "
    "them, the one that launches kernels too. Programs that count the machine's processors start "
    "more threads than the limit feeds and so are stopped early. Fires where 5 % of the periods "
    "during the counted steps were cut short; critical from 25 %. Source: Linux, "
    "Documentation/scheduler/sched-bwc.rst.";

constexpr double kLeastPeriods = 0.05;
constexpr double kCriticalPeriods = 0.25;

Outcome check(const RuleContext& rules) {
  const MachineView machine(rules);
  if (machine.empty()) return MachineView::abstention();
  const auto periods = machine.rise("cgroup.cpu_periods");
  const auto cut_short = machine.rise("cgroup.cpu_throttled_periods");
  if (!periods || !cut_short) {
    return Abstention{
        "the container's processor limit was not recorded: no control group is visible; record "
        "with fathom run where /sys/fs/cgroup is mounted"};
  }
  // Periods only count where there is a limit.
  if (*periods < 1 || *cut_short / *periods < kLeastPeriods) return std::vector<Finding>{};
  const double share = *cut_short / *periods;
  const auto limit = machine.most_ever("cgroup.cpu_limit");
  const auto count = machine.most_ever("cpu.count");
  Finding finding;
  finding.title = "The container's processor limit stops the program in " +
                  percent_text(100 * share) + " of its periods";
  finding.family = Family::host;
  finding.weight = share >= kCriticalPeriods ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  finding.evidence.push_back(
      sentence(plain_text(*cut_short) + " of " + plain_text(*periods) + " periods were cut short"));
  if (const auto stopped = machine.rise("cgroup.cpu_throttled")) {
    finding.evidence.push_back(sentence("threads were kept from running for " +
                                        plain_text(*stopped) + " s, all together"));
  }
  if (limit) {
    finding.evidence.push_back(
        sentence("the limit is " + plain_text(*limit) + " processors" +
                 (count ? " of " + plain_text(*count) + " that the program sees" : std::string())));
  }
  finding.counter_evidence =
      "Loader workers or threads of libraries may be what is stopped, while the main thread waits "
      "for the device anyway.";
  const std::string command = command_of(rules.trace());
  const std::string threads = limit ? plain_text(std::max(1.0, *limit)) : "4";
  finding.fix = {.text =
                     "Raise the limit, or start no more threads and workers than it feeds: "
                     "libraries count the machine's processors, not the container's.",
                 .before = command,
                 .after = "OMP_NUM_THREADS=" + threads + " " + command};
  finding.verify = "cat /sys/fs/cgroup/cpu.stat";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace cpu_limit_rule

Rule cpu_limit() {
  return {.id = "cpu-limit",
          .title = "A container's processor limit that is used up",
          .doc = cpu_limit_rule::kDoc,
          .check = cpu_limit_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
