// cpu-bound: a program that computes, and where.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/machine.h"
#include "rules/common/program.h"
#include "rules/common/sampled.h"
#include "rules/common/work_kind.h"

namespace fathom {
namespace cpu_bound_rule {
namespace {

constexpr std::string_view kDoc =
    "Fires where a program computes for a fifth of the time or more that it is not in the run "
    "queue, by samples of its threads. It is the verdict where it computes, or is in the run queue "
    "to compute, for half of all its time: at a line where a thread also waits, its time in the "
    "run queue is divided as the rest of its time there. Shares in the title are of all its time, "
    "with the run queue: of the main thread's, where that waits for other threads or processes of "
    "the program, theirs. How long threads ran is the scheduler's number, where they ran is "
    "sampled: of functions of libraries, the program's own function that called them is named. "
    "Without Python the thread is named instead. Where imports, the garbage collector, objects for "
    "other processes or the kernel take most of it, the title or the advice names that. No "
    "saving is predicted: samples do not show what "
    "the work is for.";

constexpr double kLeast = 0.2;
/// A line with less of its function's time does not stand for all of it.
constexpr double kOfFunction = 0.9;

double ratio(Duration part, Duration whole) {
  return static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole));
}

/// "68.8 % of all processor time in work (app.py:5)"; where the line has less of it than the
/// function, what it has follows: ", 38.0 % at that line".
std::string where_text(const SampledProgram& program, const UserSpot& function,
                       const UserSpot& line, Duration all) {
  const double of_function = ratio(function.time, all);
  const double of_line = ratio(line.time, all);
  std::string text = share_text(of_function) + " of all processor time in " + program.name_of(line);
  if (!program.is_native(line) && of_line < kOfFunction * of_function)
    text += ", " + share_text(of_line) + " at that line";
  return text;
}

/// What ended unseen, and where most of it is waited for.
std::string missed_text(const SampledProgram& program, double share) {
  std::string text = share_text(share) +
                     " of all processor time in threads or processes that ended before they were "
                     "looked at";
  for (const WaitClass wait : {WaitClass::child, WaitClass::threads}) {
    const std::vector<UserSpot> places = program.waits(wait);
    if (places.empty() || places.front().frame == kNoFrame) continue;
    return text + ", most waited for in " + program.name_of(places.front());
  }
  return text;
}

Fix fix_of(const Trace& trace, const SampledProgram& program, const UserSpot& first, bool missed,
           const std::optional<Work>& work) {
  if (missed) {
    return {.text =
                "Start fewer processes and threads: one for many pieces of work (a pool, a command "
                "with a list of files), or a function of a library in place of a command. Caveat: "
                "what they compute does not become less by that, only their starts and ends.",
            .before = "",
            .after = ""};
  }
  if (work) return work->fix;
  if (program.is_native(first)) return native_work_fix(trace, first);
  return {.text =
              "Do less there, keep results, or hand the loop to compiled code "
              "(numpy, Cython, Numba); work that does not depend on other work can "
              "go to several processes. Caveat: a faster function gives back its "
              "own share at most.",
          .before = "",
          .after = ""};
}

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  if (program.time().computing() < kLeast) return std::vector<Finding>{};
  const auto on_cpu = [](const StackSample& sample) { return sample.on_cpu; };
  const std::vector<UserSpot> functions = program.spots(on_cpu, SpotBy::function);
  const ProgramTime& time = program.time();
  const double share = time.activity.share(time.activity.on_cpu);
  if (functions.empty()) return std::vector<Finding>{};
  const std::vector<UserSpot> lines = program.spots(on_cpu);
  const Trace& trace = rules.trace();
  const auto same_function = [&](const UserSpot& line) {
    const UserSpot& first = functions.front();
    if (line.frame == kNoFrame || first.frame == kNoFrame)
      return line.frame == first.frame && line.thread == first.thread;
    return trace.stack_frames[line.frame].function == trace.stack_frames[first.frame].function &&
           trace.stack_frames[line.frame].file == trace.stack_frames[first.frame].file;
  };
  const auto line = std::ranges::find_if(lines, same_function);
  const Duration all = time.on_cpu + time.unsampled;
  const bool missed = time.unsampled > functions.front().time;
  const std::optional<Work> work = missed ? std::nullopt : work_of(rules, program);
  const bool imports = work && work->kind == WorkKind::imports;
  std::string where = where_text(program, functions.front(), *line, all);
  if (missed)
    where = missed_text(program, ratio(time.unsampled, all));
  else if (imports)
    where = work->text + ", most for " + program.name_of(work->lines.front());
  Finding finding;
  finding.title = "The program computes for " + share_text(share) + " of its time, " + where +
                  program.queue_clause();
  finding.family = Family::host;
  finding.weight = program.computes() ? Weight::critical : Weight::warning;
  finding.confidence = missed ? Confidence::medium : Confidence::high;
  finding.effort = Effort::refactoring;
  program.add_time(finding);
  finding.evidence.push_back(sentence("threads were on a processor for " + duration_text(all) +
                                      ", " + plain_text(time.average(all)) +
                                      " at a time on the average"));
  if (work && !imports) finding.evidence.push_back(sentence(work->text));
  program.add_evidence(imports ? work->lines : lines, all, "the processor time", finding);
  program.add_limits(finding);
  finding.counter_evidence =
      time.average(all) > 1.5
          ? "Several threads or processes compute at a time: the sum of their times says nothing "
            "about which of them the others wait for."
          : "";
  if (finding.counter_evidence.empty()) {
    finding.counter_evidence = "Samples show where time goes, not whether the work is needed.";
  }
  finding.fix = fix_of(rules.trace(), program, functions.front(), missed, work);
  const StorageTime storage = program.storage();
  if (std::string text = storage.text(); !text.empty())
    finding.evidence.push_back(sentence(std::move(text)));
  if (storage.is_disk())
    finding.fix = disk_fix(storage, program.is_native(functions.front()));
  else if (storage.computes_in_sqlite())
    finding.fix = sqlite_computing_fix();
  finding.verify = "fathom hot TRACE --group-by line --limit 20";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace cpu_bound_rule

Rule cpu_bound() {
  return {.id = "cpu-bound",
          .title = "A program that computes, and the function in which it does",
          .doc = cpu_bound_rule::kDoc,
          .check = cpu_bound_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
