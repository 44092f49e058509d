// lock-contention: threads or processes of a program wait for locks that others of them hold.
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/contention.h"
#include "rules/common/machine.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace lock_contention_rule {
namespace {

constexpr std::string_view kDoc =
    "A thread that is blocked in a lock or semaphore waits for another one to give it back. Fires "
    "where 0.3 threads or more are blocked so on the average, by their system call and "
    "their Python stack; their time in the run queue is left out, but in the title, which has the "
    "waits of `fathom waits`. Locks between processes "
    "(multiprocessing) count, and mutexes of native code as glibc waits for them. Waiting for the "
    "end of a thread, an item of a queue, an event or a "
    "result does not count: there a thread has nothing to do. Other locks of native code look "
    "like such waits. No saving is predicted: samples do not show how long the lock must "
    "be held.";

/// From this share on, what is done beside waiting for locks is waiting for a disk.
constexpr double kForDisk = 0.2;

/// What threads that wait for locks do otherwise, the run queue left out.
StorageTime besides_waiting(const Trace& trace, const SampledProgram& program) {
  std::set<std::pair<std::int64_t, std::int64_t>> waiters;
  for (const ThreadSum& thread : program.time().threads) {
    if (thread.waited(WaitClass::lock) > Duration{}) waiters.emplace(thread.pid, thread.tid);
  }
  const auto is_one = [&](const StackSample& sample) {
    return waiters.contains({sample.pid, sample.tid});
  };
  return storage_time(
      trace, program.roles(),
      {.on_cpu =
           [&](const StackSample& sample) { return is_one(sample) ? sample.on_cpu : Duration{}; },
       .blocked =
           [&](const StackSample& sample) {
             const WaitClass wait = program.roles().wait_of(sample);
             const bool locked = wait == WaitClass::lock || wait == WaitClass::gil;
             return is_one(sample) && !locked ? sample.blocked : Duration{};
           }});
}

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
  const StorageTime besides = besides_waiting(rules.trace(), program);
  if (besides.disk_share() >= kForDisk) {
    finding->evidence.push_back(
        sentence("these threads are in fsync or its like for " +
                 duration_text(besides.synced + besides.syncing) + " of the " +
                 duration_text(besides.on_cpu + besides.blocked) +
                 " for which they neither wait for a lock nor for a processor: who holds the lock "
                 "meanwhile lets the others wait with it"));
    finding->fix = disk_fix_under_lock(besides);
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
