// serial-part: what of a program with a pool only one thread does, and what dividing it would give.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/samples/pool_time.h"
#include "base/quantity_text.h"
#include "rules/common/contention.h"
#include "rules/common/evidence.h"
#include "rules/common/machine.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace serial_part_rule {
namespace {

constexpr std::string_view kDoc =
    "A program gives work to a pool of Python (concurrent.futures, multiprocessing.Pool, joblib), "
    "but for some of the run only one thread or process of the program computes: the main one "
    "before, between and after, or the one worker that is left with the longest piece. Fires "
    "where that is a tenth of the run or more, by samples of its threads; those in the run queue "
    "count as computing. The prediction is Amdahl's: this part divided evenly among the workers, "
    "as many as there are processors for. It is a bound: what cannot be divided stays. Silent "
    "where threads wait for the global interpreter lock or for other locks, as only one of them "
    "can compute then, and where the program waits for half of its time or more.";

constexpr double kLeast = 0.1;
/// From this share of the run on nothing else matters more.
constexpr double kMost = 0.5;

/// The functions that computed while nobody else did are not known one by one: of each side, those
/// in which it computed at all.
std::vector<UserSpot> spots_of(const SampledProgram& program, bool workers) {
  return program.spots([&program, workers](const StackSample& sample) {
    return program.roles().in_pool_worker(sample.frame) == workers ? sample.on_cpu : Duration{};
  });
}

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  // Dividing what it computes does not shorten what it waits for.
  if (!program.computes()) return std::vector<Finding>{};
  if (time.gil_waiters >= kLeastWaiting || time.lock_waiters >= kLeastWaiting)
    return std::vector<Finding>{};
  const std::optional<PoolTime> pool = pool_time(rules.trace(), program.roles());
  if (!pool || pool->wall <= Duration{}) return std::vector<Finding>{};
  const auto workers = static_cast<double>(pool->workers);
  const double together = std::min(workers, time.processors.value_or(workers));
  const auto part = [&pool](Duration of) {
    return static_cast<double>(to_ns(of)) / static_cast<double>(to_ns(pool->wall));
  };
  const double serial = part(pool->serial());
  if (serial < kLeast || together < 2) return std::vector<Finding>{};
  const double gain = serial * (1 - 1 / together);
  const bool tail = pool->one_worker > pool->one_other;
  const std::vector<UserSpot> spots = spots_of(program, tail);
  Finding finding;
  finding.title =
      "Beside a pool of " + counted_noun(pool->workers, "worker") +
      ", one thread computes alone for " + share_text(serial) + " of the run" +
      (spots.empty() ? ""
                     : ", most of it " + std::string(tail ? "in a worker" : "outside of the pool") +
                           ": " + program.name_of(spots.front()));
  finding.family = Family::host;
  finding.weight = serial >= kMost ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(sentence(
      "of " + duration_text(pool->wall) + ", two or more compute for " +
      duration_text(pool->together) + ", one worker alone for " + duration_text(pool->one_worker) +
      ", another thread alone for " + duration_text(pool->one_other)));
  finding.evidence.push_back(sentence("divided evenly among " + plain_text(together) +
                                      ", the run would take at most " + share_text(gain) +
                                      " less (Amdahl)"));
  Duration sum{};
  for (const UserSpot& spot : spots) sum += spot.time;
  if (sum > Duration{}) {
    program.add_evidence(
        spots, sum, tail ? "what workers compute" : "what others than workers compute", finding);
  }
  program.add_limits(finding);
  finding.counter_evidence =
      "What the workers need first, or what is made of all their results, may be impossible to "
      "divide.";
  finding.fix =
      tail ? Fix{.text =
                     "Give the pool smaller pieces, or the longest ones first, so that all "
                     "workers end together. Caveat: each piece costs the way to the worker "
                     "and back.",
                 .before = "pool.map(work, items)",
                 .after =
                     "pool.imap_unordered(work, sorted(items, key=size, reverse=True), "
                     "chunksize=1)"}
           : Fix{.text =
                     "Let the workers do what the main thread does before and after: read and "
                     "prepare their own pieces, and reduce their own results. Caveat: what "
                     "they send back has to be small then.",
                 .before = "items = [load(path) for path in paths]\npool.map(work, items)",
                 .after = "pool.map(load_and_work, paths)"};
  finding.verify = "fathom threads TRACE --sort -on_cpu_ns";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace serial_part_rule

Rule serial_part() {
  return {.id = "serial-part",
          .title = "A pool whose workers wait while one thread computes",
          .doc = serial_part_rule::kDoc,
          .check = serial_part_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
