// lock-contention: threads or processes of a program wait for locks that others of them hold.
#include <optional>

#include "rules/common/contention.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace lock_contention_rule {
namespace {

constexpr std::string_view kDoc =
    "A thread that is blocked in a lock or semaphore waits for another one to give it back. Fires "
    "where 0.3 threads or more are blocked so on the average, by their system call and "
    "their Python stack; their time in the run queue is left out. Locks between processes "
    "(multiprocessing) count, and mutexes of native code as glibc waits for them. Waiting for the "
    "end of a thread, an item of a queue, an event or a "
    "result does not count: there a thread has nothing to do. Other locks of native code look "
    "like such waits. No saving is predicted: samples do not show how long the lock must "
    "be held.";

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  std::optional<Finding> finding = contention_finding(program, {.wait = WaitClass::lock,
                                                                .waiting = time.lock_waiters,
                                                                .waited = time.locks,
                                                                .lock = "a lock",
                                                                .locks = "locks",
                                                                .named = true});
  if (!finding) return std::vector<Finding>{};
  finding->counter_evidence =
      "A lock that one thread takes to wait for another looks the same as one that is contended.";
  finding->fix = {.text =
                      "Hold the lock only while shared data is changed: compute and wait "
                      "outside of it, or give each thread its own part. Caveat: what must "
                      "change together must stay under one lock.",
                  .before = "with lock:\n    total += work(item)",
                  .after = "result = work(item)\nwith lock:\n    total += result"};
  const std::vector<UserSpot> places = program.waits(WaitClass::lock);
  if (program.is_native(places.empty() ? UserSpot{} : places.front())) {
    finding->fix.before = {};
    finding->fix.after = {};
  }
  finding->verify = "fathom threads TRACE --sort -lock_ns";
  return std::vector<Finding>{*std::move(finding)};
}

}  // namespace
}  // namespace lock_contention_rule

Rule lock_contention() {
  return {.id = "lock-contention",
          .title = "Threads that wait for locks which others of them hold",
          .doc = lock_contention_rule::kDoc,
          .check = lock_contention_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
