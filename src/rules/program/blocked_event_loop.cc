// blocked-event-loop: a callback or task that keeps an asyncio loop from everything else.
#include "base/quantity_text.h"
#include "rules/common/machine.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace blocked_event_loop_rule {
namespace {

constexpr std::string_view kDoc =
    "An event loop (asyncio) runs one callback at a time: while a task computes, or waits by a "
    "call that is not awaited, no other task runs. Fires where the loop was met again and again in "
    "the same callback for 100 ms or more, and such stretches take a fifth of the time of the "
    "threads that have a loop. Time in the run queue does not count; the share in the title is of "
    "all their time, with the run queue. A wait of 100 ms or more is a "
    "stretch of its own. Many short calls of one callback, between which the loop has nothing to "
    "wait for, look like one long one. No saving is "
    "predicted: tasks that may run meanwhile need not have anything to do.";

constexpr double kLeast = 0.2;

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  if (time.stretches.empty() || time.loops <= Duration{}) return std::vector<Finding>{};
  const auto part_of = [&time](Duration whole) {
    return static_cast<double>(to_ns(time.loop_blocked)) / static_cast<double>(to_ns(whole));
  };
  if (part_of(time.loops) < kLeast) return std::vector<Finding>{};
  const double share = part_of(time.loops + time.loops_queued);
  Duration blocked{};
  for (const LoopStretch& stretch : time.stretches) blocked += stretch.blocked;
  const bool waits = blocked > time.loop_blocked / 2;
  const StackRoles& roles = program.roles();
  const auto places = program.spots([&](const StackSample& sample) {
    if (roles.callback(sample.frame) == kNoFrame) return Duration{};
    return waits ? sample.blocked : sample.on_cpu;
  });
  if (places.empty()) return std::vector<Finding>{};
  const LoopStretch& longest = time.stretches.front();
  Finding finding;
  finding.title = "The event loop is blocked for " + share_text(share) + " of its time, up to " +
                  duration_text(longest.length()) + " at once: " + program.name_of(places.front()) +
                  (waits ? " waits" : " computes");
  finding.family = Family::host;
  finding.weight = Weight::critical;
  finding.confidence = waits ? Confidence::high : Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(sentence(
      std::to_string(time.stretches.size()) + " stretches of 100 ms or more, " +
      duration_text(time.loop_blocked) + " in all, " + duration_text(blocked) + " of it waiting"));
  if (time.loops_queued * 20 > time.loops) {
    finding.evidence.push_back(sentence("of " + duration_text(time.loops + time.loops_queued) +
                                        ", the loop was in the run queue for " +
                                        duration_text(time.loops_queued)));
  }
  if (time.longest_unmet > longest.length()) {
    finding.evidence.push_back(sentence("the loop was met in nothing else for up to " +
                                        duration_text(time.longest_unmet) +
                                        ": stretches that follow one another may be one"));
  }
  if (longest.waits > 1) {
    finding.evidence.push_back(
        sentence("the longest is made of " + std::to_string(longest.waits) +
                 " waits in a row: where the loop went round unseen between them, it is several"));
  }
  Evidence place = sentence("the longest was in " + program.name_of(longest.callback));
  place.location = program.location_of(longest.callback);
  finding.evidence.push_back(std::move(place));
  program.add_evidence(places, time.loop_blocked, "the time that the loop is blocked", finding);
  finding.counter_evidence =
      "Where no other task has anything to do meanwhile, nothing is lost by it.";
  finding.fix = {.text = waits ? "Await what the loop can wait for (asyncio.sleep, an asynchronous "
                                 "client), or hand the call to a thread. Caveat: what a thread "
                                 "shares with the loop needs a lock."
                               : "Hand the computing to a process or a thread, or give the loop a "
                                 "turn in between (await asyncio.sleep(0)). Caveat: a thread that "
                                 "computes in Python still takes turns with the loop.",
                 .before = waits ? "result = call()" : "result = compute(data)",
                 .after = waits ? "result = await asyncio.to_thread(call)"
                                : "result = await loop.run_in_executor(process_pool, compute, "
                                  "data)"};
  finding.verify = "fathom hot TRACE --group-by line";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace blocked_event_loop_rule

Rule blocked_event_loop() {
  return {.id = "blocked-event-loop",
          .title = "A task that keeps an event loop from all others",
          .doc = blocked_event_loop_rule::kDoc,
          .check = blocked_event_loop_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
