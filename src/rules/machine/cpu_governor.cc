// cpu-governor: the processors' clocks are governed to save power, while the host is what is waited
// for.
#include <string>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/machine.h"
#include "rules/rule.h"

namespace fathom {
namespace cpu_governor_rule {
namespace {

constexpr std::string_view kDoc =
    "Linux lowers the clock of processors that have little to do, and how soon it raises it again "
    "is up to a governor: performance keeps it high, all others (powersave, conservative, "
    "ondemand, schedutil) save power. A thread that launches kernels sleeps and wakes often, which "
    "looks like little to do. Fires as a note where fathom run found another governor than "
    "performance, and a tenth of the step is the host's: idle time of the device for its dispatch, "
    "Python, launches or input, or, without a device, the main thread's own. No saving is "
    "predicted. Sources: Linux, Documentation/admin-guide/pm/cpufreq.rst; PyTorch's tuning guide "
    "for processors.";

constexpr std::string_view kGovernorFact = "host.governor";
constexpr double kLeastPercent = 10.0;

/// What of the step waits for the host.
Duration of_host(const RuleContext& rules) {
  if (rules.device < 0) return rules.window();
  Duration sum{};
  for (const Step* const step : rules.steps) {
    const Account parts = account(rules.context, rules.accounting, rules.device, step->window);
    sum += parts[Bucket::dispatch] + parts[Bucket::python] + parts[Bucket::launch_latency] +
           parts[Bucket::input];
  }
  return sum;
}

Outcome check(const RuleContext& rules) {
  const Fact* const fact = rules.trace().fact(kGovernorFact);
  if (fact == nullptr) {
    return Abstention{
        "the governor of the processors was not recorded: kernels of virtual machines seldom show "
        "it; elsewhere, record with fathom run"};
  }
  const std::string governor(json_unquoted(fact->value));
  const Duration host = of_host(rules);
  if (governor == "performance" || rules.percent(host) < kLeastPercent)
    return std::vector<Finding>{};
  Finding finding;
  finding.title = "The governor of the processors is " + governor + ", not performance";
  finding.family = Family::capture;
  finding.weight = Weight::note;
  finding.confidence = Confidence::low;
  finding.effort = Effort::flag;
  finding.evidence.push_back(sentence(
      rules.device < 0 ? "without a device, all of the step depends on the processors' clock"
                       : percent_text(rules.percent(host)) +
                             " of the step the device waits for the host, whose speed goes with "
                             "the processors' clock"));
  finding.counter_evidence =
      "The clocks themselves were not recorded: drivers that let the hardware decide "
      "(intel_pstate, "
      "amd_pstate) call themselves powersave, and may be as fast.";
  finding.fix = {.text =
                     "Set it to performance while you measure, and compare. Caveat: more power and "
                     "heat; needs an administrator.",
                 .before = "",
                 .after = "sudo cpupower frequency-set -g performance"};
  finding.verify = "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace cpu_governor_rule

Rule cpu_governor() {
  return {.id = "cpu-governor",
          .title = "Processors governed to save power",
          .doc = cpu_governor_rule::kDoc,
          .check = cpu_governor_rule::check,
          .without_operators = true};
}

}  // namespace fathom
