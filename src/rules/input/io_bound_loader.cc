// io-bound-loader: the step waits for input, and the input waits for disks while processors idle.
#include <algorithm>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/machine.h"
#include "rules/rule.h"

namespace fathom {
namespace io_bound_loader_rule {
namespace {

constexpr std::string_view kDoc =
    "Input that comes too late either computes too long or waits for storage; telemetry shows "
    "which. Fires where data loading is exposed for 5 % of the counted steps (as of data-loading), "
    "tasks waited for a disk during 10 % of the time (PSI, some; without PSI: processors idle for "
    "a disk), and the processors are busy for less than 60 %. More workers hardly help on a disk "
    "that is at its limit; reading less does. Network file systems are not seen by PSI on every "
    "kernel. Sources: Linux, Documentation/accounting/psi.rst; the verdict is input-bound with "
    "idle processors, which is I/O-bound.";

constexpr double kLeastPercent = 5.0;
constexpr double kLeastWaiting = 10.0;
constexpr double kMostBusy = 60.0;
/// What is left of a fetch where storage delivers twice as fast.
constexpr float kFaster = 0.5F;

/// The outermost fetches of the counted steps.
std::vector<SliceId> fetches(const RuleContext& rules) {
  const Phases& phases = rules.context.phases();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  std::vector<SliceId> found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (phases[slice] != Phase::data || !counts(rules, slice)) continue;
      const SliceId around = parent[slice.row()];
      if (!around.valid() || phases[around] != Phase::data) found.push_back(slice);
    }
  }
  return found;
}

/// Percent of the time in which tasks waited for disks: the container's own where it is known.
std::optional<double> waiting(const MachineView& machine) {
  if (const auto own = machine.percent("cgroup.pressure.io")) return own;
  if (const auto all = machine.percent("pressure.io.some")) return all;
  const auto idle = machine.percent("cpu.io_wait");
  return idle ? std::optional(std::min(100.0, *idle)) : std::nullopt;
}

/// The disk that was read most, "nvme0n1: 2.1 GiB/s, busy 97 % of the time"; "" without any.
std::string busiest_disk(const MachineView& machine) {
  constexpr std::string_view kBegin = "disk.";
  constexpr std::string_view kEnd = ".busy";
  double most = 0;
  std::string text;
  for (const CounterLine& line : machine.telemetry().lines()) {
    if (!line.name.starts_with(kBegin) || !line.name.ends_with(kEnd)) continue;
    const auto busy = percent_of_time(line, machine.windows());
    if (!busy || *busy <= most) continue;
    most = *busy;
    const std::string disk(
        line.name.substr(kBegin.size(), line.name.size() - kBegin.size() - kEnd.size()));
    const auto read = machine.per_second("disk." + disk + ".read");
    text = disk + " was busy for " + percent_text(*busy) + " of the time" +
           (read ? " and read " + bytes_text(static_cast<std::int64_t>(*read)) + " a second" : "");
  }
  return text;
}

Outcome check(const RuleContext& rules) {
  const MachineView machine(rules);
  if (machine.empty()) return MachineView::abstention();
  const auto waited = waiting(machine);
  const auto busy = machine.percent("cpu.busy");
  const auto count = machine.level("cpu.count");
  if (!waited || !busy || !count || count->mean <= 0) return MachineView::abstention();
  const std::vector<SliceId> found = fetches(rules);
  if (found.empty()) {
    return Abstention{
        "no data-loader fetch is in the counted steps: iterate over a torch DataLoader while "
        "recording, or wrap the fetch into record_function(\"data_loading\")"};
  }
  Finding finding;
  claim_host_work(rules, found, 1.0, finding.claims, {Bucket::input});
  const Duration exposed = total(finding.claims);
  const double busy_percent = *busy / count->mean;
  if (rules.percent(exposed) < kLeastPercent || *waited < kLeastWaiting ||
      busy_percent >= kMostBusy) {
    return std::vector<Finding>{};
  }
  finding.title = "The loader waits for storage: the step waits " + per_step(rules, exposed) +
                  " for input while processors are idle";
  finding.family = Family::input;
  finding.weight = weight_of(rules, exposed);
  finding.confidence = Confidence::high;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(
      rules, found,
      "tasks waited for a disk during " + percent_text(*waited) + " of the time, and the " +
          "processors were busy for " + percent_text(busy_percent)));
  if (std::string disk = busiest_disk(machine); !disk.empty()) {
    finding.evidence.push_back(sentence(std::move(disk)));
  }
  finding.counter_evidence =
      *waited < rules.percent(exposed)
          ? "The step waits for input longer than any task waits for a disk: something else delays "
            "the loader too."
          : "Who waited for the disk may have been another program on this machine.";
  finding.fix = {
      .text =
          "Read less, or from something faster: pack small files (WebDataset, HDF5, Parquet, "
          "LMDB), store samples in the size they are used in, cache them in memory, on a RAM disk "
          "(/dev/shm) or on local storage, read ahead. Caveats: packed data must be rebuilt when "
          "samples change; a RAM disk takes memory of the machine and is empty after a restart; "
          "of HDF5 each worker opens its own file.",
      .before = "sample = read(network_path)",
      .after = "sample = read(local_copy)   # or one sequential read of a packed shard"};
  finding.verify = "fathom diagnose TRACE";
  scale_trees(rules, found, kFaster, finding.edits);
  finding.assumption = "storage delivers twice as fast";
  finding.pessimism = 0.8;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace io_bound_loader_rule

Rule io_bound_loader() {
  return {.id = "io-bound-loader",
          .title = "A loader that waits for storage",
          .doc = io_bound_loader_rule::kDoc,
          .check = io_bound_loader_rule::check,
          .without_operators = true,
          .hint = VerdictHint::storage};
}

}  // namespace fathom
