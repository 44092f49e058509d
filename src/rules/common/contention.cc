// Says how many threads wait for a lock, how long, and where.
#include "rules/common/contention.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/evidence.h"
#include "rules/common/machine.h"

namespace fathom {
namespace {

/// Numbers that differ by less need no word.
constexpr double kDiffers = 0.1;

/// A wait that no look has met is of no known cause: its thread is counted apart.
std::string who_waited(const ProgramTime& time, const Contention& contention) {
  std::size_t met = 0;
  std::size_t unknown = 0;
  for (const ThreadSum& thread : time.threads) {
    if (thread.waited(contention.wait) > Duration{})
      ++met;
    else if (2 * thread.waited(WaitClass::other) > thread.blocked)
      ++unknown;
  }
  return "of " + counted_noun(time.threads.size(), "thread") + " that were looked at, " +
         std::to_string(met) + " were met waiting for " + std::string(contention.locks) + ", for " +
         duration_text(contention.waited) + " of a run of " + duration_text(time.wall()) +
         ", all together" +
         (unknown == 0 ? ""
                       : "; " + std::to_string(unknown) + " more waited where no look met them");
}

}  // namespace

std::optional<Finding> contention_finding(const SampledProgram& program,
                                          const Contention& contention) {
  if (contention.waiting < kLeastWaiting) return std::nullopt;
  const std::vector<UserSpot> waits = program.waits(contention.wait);
  if (contention.named && waits.empty()) return std::nullopt;
  const ProgramTime& time = program.time();
  Finding finding;
  // As the tables have it: what threads waited, of the run.
  const double average = time.average(contention.waited);
  finding.title = threads_text(average) + " on the average wait for " +
                  std::string(contention.lock) +
                  (waits.empty() ? "" : ", most in " + program.name_of(waits.front()));
  finding.family = Family::host;
  // Who holds it may itself wait for a processor.
  finding.weight = time.starved_average() > contention.waiting ? Weight::warning : Weight::critical;
  finding.confidence = Confidence::high;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(sentence(who_waited(time, contention)));
  if (std::abs(contention.waiting - average) > kDiffers * contention.waiting) {
    finding.evidence.push_back(
        sentence("without the time that they were in the run queue, these would be " +
                 threads_text(contention.waiting) +
                 " on the average: on a busy machine, who looks whether a lock is free waits for a "
                 "processor first"));
  }
  program.add_evidence(waits, contention.waited, "the waiting", finding);
  program.add_limits(finding);
  return finding;
}

}  // namespace fathom
