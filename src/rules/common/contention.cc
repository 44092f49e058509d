// Says how many threads wait for a lock, how long, and where.
#include "rules/common/contention.h"

#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/machine.h"

namespace fathom {

std::optional<Finding> contention_finding(const SampledProgram& program,
                                          const Contention& contention) {
  if (contention.waiting < kLeastWaiting) return std::nullopt;
  const std::vector<UserSpot> waits = program.waits(contention.wait);
  if (contention.named && waits.empty()) return std::nullopt;
  const ProgramTime& time = program.time();
  Finding finding;
  finding.title = threads_text(contention.waiting) + " on the average wait for " +
                  std::string(contention.lock) +
                  (waits.empty() ? "" : ", most in " + program.name_of(waits.front()));
  finding.family = Family::host;
  // Who holds it may itself wait for a processor.
  finding.weight = time.starved_average() > contention.waiting ? Weight::warning : Weight::critical;
  finding.confidence = Confidence::high;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(sentence("threads waited for " + std::string(contention.locks) +
                                      " for " + duration_text(contention.waited) + " of a run of " +
                                      duration_text(time.wall()) + ", all together"));
  program.add_evidence(waits, contention.waited, "the waiting", finding);
  return finding;
}

}  // namespace fathom
