// neighbour: other programs use the same GPU or the same processors.
#include <algorithm>

#include "base/quantity_text.h"
#include "rules/common/machine.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace neighbour_rule {
namespace {

constexpr std::string_view kDoc =
    "GPU and processor time that other programs use is not available to this one, and every "
    "measurement depends on them. Fires where another process computes on the diagnosed GPU for a "
    "tenth of the counted steps, and where processes outside of the captured program use a quarter "
    "of the processors that the machine has and at least one, sampled for at least 0.2 s. Kernels "
    "of two processes share a GPU in turns unless MPS runs them together. A display server or a "
    "monitoring tool that only holds a little memory is not counted. No saving is predicted: only "
    "a run without them shows what they cost.";

constexpr double kLeastShare = 0.1;
constexpr double kLeastMemory = 256.0 * (1 << 20);
constexpr double kLeastCpuShare = 0.25;
constexpr double kLeastCpus = 1.0;
constexpr double kWarningCpuShare = 0.5;
/// The system counts processor time in ticks of 10 ms: over less than this, a tick on each of a few
/// processors is a large part of what is measured.
constexpr Duration kLeastSampled = Duration{200'000'000};

std::optional<Finding> on_gpu(const RuleContext& rules, const MachineView& machine) {
  const auto gpu = machine.gpu();
  if (!gpu) return {};
  const auto others = machine.level("gpu.other_processes", *gpu);
  if (!others || others->mean < kLeastShare) return {};
  const auto memory = machine.level("gpu.memory_by_others", *gpu);
  if (memory && memory->most < kLeastMemory) return {};
  Finding finding;
  finding.key = "gpu";
  finding.title = "Other processes use the same GPU: up to " + plain_text(others->most);
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.evidence.push_back(sentence(
      plain_text(others->mean) + " other processes on average" +
      (memory ? ", holding up to " + bytes_text(static_cast<std::int64_t>(memory->most)) : "")));
  const auto use = machine.level("gpu.utilization", *gpu);
  const DeviceTimeline* const timeline = rules.context.timelines().find(rules.device);
  if (use && timeline != nullptr) {
    Duration busy{};
    for (const Interval& window : machine.windows()) busy += busy_time(*timeline, window).busy();
    const double ours = rules.percent(busy);
    finding.evidence.push_back(sentence("the GPU is in use for " + percent_text(use->mean) +
                                        " of the time, by this program for " + percent_text(ours)));
    finding.counter_evidence = use->mean <= ours + 5
                                   ? "The GPU is in use for hardly longer than this program uses "
                                     "it: the others hold memory but compute little."
                                   : "";
  }
  if (finding.counter_evidence.empty()) {
    finding.counter_evidence = "A process may hold memory and compute nothing.";
  }
  finding.fix = {.text =
                     "Let one program have the GPU while it is measured; where they must share, "
                     "start MPS, or cut the GPU by MIG.",
                 .before = "",
                 .after = "nvidia-smi   # who is there"};
  finding.verify = "nvidia-smi pmon -c 1";
  return finding;
}

std::optional<Finding> on_processors(const RuleContext& rules, const MachineView& machine) {
  const CounterLine* const sampled = machine.telemetry().find("others.cpu");
  if (sampled == nullptr || sampled->span().length() < kLeastSampled) return {};
  auto others = machine.per_second("others.cpu");
  const auto count = machine.level("cpu.count");
  if (!others || !count || count->mean <= 0) return {};
  others = std::min(*others, count->mean);
  const double share = *others / count->mean;
  if (*others < kLeastCpus || share < kLeastCpuShare) return {};
  Finding finding;
  finding.key = "cpu";
  finding.title = "Other programs use " + plain_text(*others) + " of " + plain_text(count->mean) +
                  " processors";
  finding.weight = share >= kWarningCpuShare ? Weight::warning : Weight::note;
  finding.confidence = Confidence::high;
  finding.evidence.push_back(sentence("processes outside of the captured program use " +
                                      plain_text(*others) + " processors, " +
                                      percent_text(100 * share) + " of the machine"));
  if (const auto waiting = machine.percent("pressure.cpu.some")) {
    finding.evidence.push_back(
        sentence("tasks waited for a processor during " + percent_text(*waiting) + " of the time"));
  }
  const auto busy = machine.per_second("cpu.busy");
  finding.counter_evidence =
      busy && *busy < 0.9 * count->mean
          ? plain_text(count->mean - *busy) + " processors stayed idle on average."
          : "No processor stayed idle: no counter-evidence.";
  finding.fix = {.text =
                     "Measure on a machine of your own, or give the program processors of its "
                     "own (taskset, cpuset). Caveat: loaders with as many workers as processors "
                     "then ask for more than there are.",
                 .before = "",
                 .after = ""};
  // Half of the processors, where there are enough to share.
  const auto half = static_cast<int>(count->mean / 2);
  if (half >= 2) {
    const std::string command = command_of(rules.trace());
    finding.fix.before = command;
    finding.fix.after = "taskset -c 0-" + std::to_string(half - 1) + " " + command;
  }
  finding.verify = "top -o %CPU";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const MachineView machine(rules);
  if (machine.empty()) return MachineView::abstention();
  const auto gpu = machine.gpu();
  const bool recorded = machine.per_second("others.cpu").has_value() ||
                        (gpu && machine.level("gpu.other_processes", *gpu));
  if (!recorded) return MachineView::abstention();
  std::vector<Finding> findings;
  if (auto finding = on_gpu(rules, machine)) findings.push_back(std::move(*finding));
  if (auto finding = on_processors(rules, machine)) findings.push_back(std::move(*finding));
  for (Finding& finding : findings) {
    finding.family = Family::capture;
    finding.effort = Effort::flag;
  }
  return findings;
}

}  // namespace
}  // namespace neighbour_rule

Rule neighbour() {
  return {.id = "neighbour",
          .title = "Other programs on the same GPU or processors",
          .doc = neighbour_rule::kDoc,
          .check = neighbour_rule::check,
          .without_operators = true};
}

}  // namespace fathom
