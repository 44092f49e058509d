// waiting: a program that waits, for what and where.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/contention.h"
#include "rules/common/machine.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace waiting_rule {
namespace {

constexpr std::string_view kDoc =
    "Fires where a program waits for a fifth of the time or more that it is not in the run queue, "
    "by samples of its threads; it is the verdict where it does not compute for half of all its "
    "time (as of cpu-bound). Shares are of all its time, with the run queue, as in `fathom "
    "threads`: of the main thread's, where that waits for other threads or processes of the "
    "program, theirs. What is waited for is known by the system call, its file descriptor and the "
    "Python stack; the processor time of fsync counts as waiting for the disk. Silent where the "
    "longest wait is for a lock that gil-contention or lock-contention names. No saving is "
    "predicted: samples do not show what else could be done meanwhile.";

constexpr double kLeast = 0.2;
/// Less of all its time is not worth a finding, however busy the machine.
constexpr double kLeastOfAll = 0.02;

/// What a descriptor is open on, without its number: "a pipe", "a socket".
std::string kind_of(std::string_view object) {
  if (object.starts_with("pipe:")) return "a pipe";
  if (object.starts_with("socket:")) return "a socket";
  if (object.starts_with("/dev/pts/") || object.starts_with("/dev/tty")) return "the terminal";
  return object.starts_with('/') ? std::string(object) : std::string();
}

/// The object that waits of this class were longest for; those for the disk alone where that is
/// what is waited for.
std::string object_of(const RuleContext& rules, const SampledProgram& program, WaitClass wait,
                      bool on_disk) {
  std::map<std::string, Duration> kinds;
  for (const StackSample& sample : rules.trace().stack_samples) {
    if (sample.blocked <= Duration{} || program.roles().wait_of(sample) != wait) continue;
    if (on_disk && !program.roles().waits_for_disk(sample)) continue;
    const Duration counted = program.time().counted(sample, wait);
    const std::string kind = kind_of(rules.trace().text(sample.object));
    if (counted > Duration{} && !kind.empty()) kinds[kind] += counted;
  }
  const auto longest =
      std::ranges::max_element(kinds, {}, [](const auto& entry) { return entry.second; });
  return longest == kinds.end() ? std::string() : longest->first;
}

/// Without code, for it is not known in which language the program is written.
Fix native_fix_of(WaitClass wait) {
  switch (wait) {
    case WaitClass::sleep:
      return {.text =
                  "Wait for what the time stands for (a condition variable, an event, a "
                  "reply) instead of looking again after a time. Caveat: where the pause is "
                  "wanted, nothing is to be done.",
              .before = "",
              .after = ""};
    case WaitClass::file:
      return {.text =
                  "Ask for several things at once (threads, asynchronous calls), for more in "
                  "one request, or ahead of time; keep what was read. Caveat: who answers "
                  "may be the limit: more requests at once do not make it faster.",
              .before = "",
              .after = ""};
    case WaitClass::child:
      return {.text =
                  "Start what does not depend on each other together, and wait for all. "
                  "Caveat: together they want as many processors as they are.",
              .before = "",
              .after = ""};
    case WaitClass::loop:
      return {.text =
                  "Its loop has nothing to do until a time has passed or a reply comes. Start what "
                  "does not depend on each other together, and wait for all of it (as Promise.all "
                  "does). Caveat: a server without requests has nothing to be changed.",
              .before = "",
              .after = ""};
    default:
      return {.text =
                  "fathom waits shows where threads wait for what; fathom dump PID --native "
                  "shows it while it happens. Caveat: a program that waits for work has "
                  "nothing to be changed.",
              .before = "",
              .after = ""};
  }
}

Fix fix_of(WaitClass wait) {
  switch (wait) {
    case WaitClass::sleep:
      return {.text =
                  "Wait for what the time stands for (an event, a change, a reply) instead of "
                  "looking again after a time. Caveat: where the pause is wanted, nothing is "
                  "to be done.",
              .before = "time.sleep(1)",
              .after = "event.wait(timeout=1)"};
    case WaitClass::file:
      return {.text =
                  "Ask for several things at once (threads, asyncio), for more in one request, "
                  "or ahead of time; keep what was read. Caveat: who answers may be the limit: "
                  "more requests at once do not make it faster.",
              .before = "results = [fetch(each) for each in work]",
              .after = "results = list(ThreadPoolExecutor(8).map(fetch, work))"};
    case WaitClass::child:
      return {.text =
                  "Start what does not depend on each other together, and wait for all. "
                  "Caveat: together they want as many processors as they are.",
              .before = "subprocess.run(command)",
              .after = "children = [subprocess.Popen(each) for each in commands]"};
    case WaitClass::loop:
      return {.text =
                  "No task of the loop can go on: each waits for a reply or a time. Let tasks wait "
                  "at the same time instead of one after the other. Caveat: who answers may be the "
                  "limit, and a server without requests has nothing to be changed.",
              .before = "for each in work:\n    results.append(await fetch(each))",
              .after = "results = await asyncio.gather(*(fetch(each) for each in work))"};
    default:
      return {.text =
                  "fathom waits shows at which line threads wait for what; fathom dump PID "
                  "shows it while it happens. Caveat: a program that waits for work has "
                  "nothing to be changed.",
              .before = "",
              .after = ""};
  }
}

/// What is waited for, in words.
std::string what_of(const RuleContext& rules, const SampledProgram& program, WaitClass wait,
                    bool on_disk) {
  const std::string object = object_of(rules, program, wait, on_disk);
  if (on_disk) return (object.empty() ? "what was written" : object) + " to be on disk (fsync)";
  return object.empty() || wait == WaitClass::loop ? std::string(words_of(wait)) : object;
}

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  // Who is in fsync has nothing else to do, even while that computes.
  const double waits = time.activity.share(time.activity.blocked() + time.syncing);
  if (1 - time.computing() < kLeast || waits < kLeastOfAll) return std::vector<Finding>{};
  const StorageTime storage = program.storage();
  const bool on_disk = storage.is_disk();
  const WaitClass wait = on_disk ? WaitClass::file : time.activity.longest();
  const std::vector<UserSpot> places = program.waits(wait, true);
  // Where locks are a finding of their own, that has the place and the advice.
  const bool at_gil = wait == WaitClass::gil && time.gil_waiters >= kLeastWaiting;
  const bool at_lock = wait == WaitClass::lock && time.lock_waiters >= kLeastWaiting;
  if (at_gil || (at_lock && !places.empty())) return std::vector<Finding>{};
  Finding finding;
  finding.title = "The program waits for " + share_text(waits) + " of its time, longest for " +
                  what_of(rules, program, wait, on_disk) +
                  (places.empty() ? "" : ": " + program.name_of(places.front())) +
                  program.queue_clause();
  finding.family = Family::host;
  finding.weight = program.computes() ? Weight::warning : Weight::critical;
  finding.confidence = wait == WaitClass::other ? Confidence::low : Confidence::high;
  finding.effort = Effort::refactoring;
  program.add_time(finding);
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    const auto each = static_cast<WaitClass>(i);
    const double share = time.activity.share(time.activity.waited(each));
    if (share >= 0.02) {
      finding.evidence.push_back(
          sentence("waits for " + std::string(words_of(each)) + ": " + share_text(share)));
    }
  }
  if (std::string text = storage.text(); !text.empty())
    finding.evidence.push_back(sentence(std::move(text)));
  Duration sum{};
  for (const UserSpot& place : places) sum += place.time;
  if (sum > Duration{}) {
    program.add_evidence(places, sum, "the waits for " + std::string(words_of(wait)), finding);
  }
  program.add_limits(finding);
  finding.counter_evidence =
      "A program that has nothing to do waits as well: only who wrote it "
      "knows whether it should have gone on.";
  const bool native = program.is_native(places.empty() ? UserSpot{} : places.front());
  if (on_disk)
    finding.fix = disk_fix(storage, native);
  else if (wait == WaitClass::sleep && storage.sleeps_in_sqlite())
    finding.fix = sqlite_busy_fix();
  else
    finding.fix = native ? native_fix_of(wait) : fix_of(wait);
  finding.verify = "fathom threads TRACE --sort -blocked_ns";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace waiting_rule

Rule waiting() {
  return {.id = "waiting",
          .title = "A program that waits, for what and where",
          .doc = waiting_rule::kDoc,
          .check = waiting_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
