// too-few-cores: threads of a program that could run wait for a processor.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "base/quantity_text.h"
#include "rules/common/contention.h"
#include "rules/common/machine.h"
#include "rules/common/program.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace too_few_cores_rule {
namespace {

constexpr std::string_view kDoc =
    "The scheduler counts for each thread how long it could have run but had to wait for a "
    "processor (the run queue, the second number of /proc/PID/schedstat). Fires where the "
    "program's own threads want more processors than they may use, by their affinity and the "
    "limit of the control group, and 0.3 threads or more wait on the average meanwhile. Waiting "
    "that other programs cause does not count: stretches of 0.2 s in which the program wants no "
    "more than 1.15 times the processors that it may use are left out, and of the others what it "
    "would have waited alone on the machine counts. A thread that waits for a lock between its "
    "turns wants a processor for its turns only: of its time in the run queue as large a part as "
    "it runs of the rest. It is no verdict where more threads wait for a lock. No saving is "
    "predicted: that depends on how the work divides.";

/// Of the time on a processor; below, hardly anything is lost.
constexpr double kLeastOfRunning = 0.2;

/// The variable that bounds the threads of a library that wants half or more of the processor
/// time, by the files of the innermost functions; "" where none does.
std::string_view threads_variable(const Trace& trace) {
  // OpenBLAS looks at its own before that of OpenMP, and so does MKL.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kLibraries = {{
      {"openblas", "OPENBLAS_NUM_THREADS"},
      {"libmkl", "MKL_NUM_THREADS"},
      {"libgomp", "OMP_NUM_THREADS"},
      {"libiomp", "OMP_NUM_THREADS"},
      {"libomp", "OMP_NUM_THREADS"},
      {"libtorch", "OMP_NUM_THREADS"},
      {"libblis", "BLIS_NUM_THREADS"},
  }};
  const auto variable_of = [&](StringId file) -> std::string_view {
    const auto met = std::ranges::find_if(kLibraries, [&](const auto& library) {
      return trace.text(file).find(library.first) != std::string_view::npos;
    });
    return met == kLibraries.end() ? std::string_view() : met->second;
  };
  std::map<StringId, std::string_view> by_file;
  std::map<std::string_view, Duration> wanted;
  Duration all{};
  for (const StackSample& sample : trace.stack_samples) {
    const Duration time = sample.on_cpu + sample.queued;
    all += time;
    if (sample.frame == kNoFrame) continue;
    const StringId file = trace.stack_frames[sample.frame].file;
    const auto [known, added] = by_file.try_emplace(file);
    if (added) known->second = variable_of(file);
    if (!known->second.empty()) wanted[known->second] += time;
  }
  for (const auto& [variable, time] : wanted) {
    if (2 * time >= all) return variable;
  }
  return {};
}

/// How many processes compute or want to, so that each may have its part of the processors.
double busy_processes(const ProgramTime& time) {
  constexpr double kBusy = 0.2;
  std::map<std::int64_t, Duration> wanted;
  for (const ThreadSum& thread : time.threads) wanted[thread.pid] += thread.on_cpu + thread.queued;
  const auto most = std::ranges::max_element(
      wanted, {}, [](const std::pair<const std::int64_t, Duration>& each) { return each.second; });
  const auto busy = [&](const std::pair<const std::int64_t, Duration>& each) {
    return static_cast<double>(to_ns(each.second)) >=
           kBusy * static_cast<double>(to_ns(most->second));
  };
  return static_cast<double>(std::ranges::count_if(wanted, busy));
}

Fix fix_of(const Trace& trace, const ProgramTime& time) {
  const std::string_view variable = threads_variable(trace);
  const std::string more =
      " more processors (taskset, cpuset, the container's limit), or start no more threads and "
      "processes than there are: more only take turns.";
  if (variable.empty()) return {.text = "Give the program" + more, .before = "", .after = ""};
  const std::string most =
      plain_text(std::max(1.0, std::floor(*time.processors / std::max(1.0, busy_processes(time)))));
  const std::string command = command_of(trace);
  const std::string setting = std::string(variable) + "=" + most;
  return {.text = setting + " bounds the library's threads. Or give the program" + more +
                  " Caveat: it holds for each process, and not for pools that the program makes.",
          .before = command,
          .after = setting + " " + command};
}

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  if (!time.starved) {
    return Abstention{
        "it was not recorded which processors the program may use: record it with fathom run"};
  }
  const double waiting = time.average(*time.starved);
  const bool much = static_cast<double>(to_ns(*time.starved)) >=
                    kLeastOfRunning * static_cast<double>(to_ns(time.on_cpu));
  if (waiting < kLeastWaiting || !much) return std::vector<Finding>{};
  const std::string processors =
      plain_text(*time.processors) + (*time.processors == 1 ? " processor" : " processors");
  Finding finding;
  finding.title = "Too few processors: beside the running ones, " + threads_text(waiting) +
                  " on the average wait for one of " + processors;
  finding.family = Family::host;
  const double locked = std::max(time.gil_waiters, time.lock_waiters);
  finding.weight = locked >= waiting ? Weight::warning : Weight::critical;
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  finding.evidence.push_back(
      sentence("threads were on a processor for " + duration_text(time.on_cpu) +
               " and in the run queue for " + duration_text(time.queued) +
               ", all together; more processors would end " + duration_text(*time.starved) +
               " of that in a run of " + duration_text(time.wall())));
  const auto queued = program.spots([](const StackSample& sample) { return sample.queued; });
  program.add_evidence(queued, time.queued, "the time in the run queue", finding);
  program.add_limits(finding);
  const MachineView machine(rules);
  const auto others = machine.empty() ? std::nullopt : machine.per_second("others.cpu");
  finding.counter_evidence =
      others && *others >= 0.5
          ? "Other programs used " + plain_text(*others) + " processors meanwhile."
          : "";
  if (locked >= kLeastWaiting) {
    finding.counter_evidence +=
        std::string(finding.counter_evidence.empty() ? "" : " ") + threads_text(locked) +
        " wait for a lock, their time in the run queue left out: more processors do not end that.";
  }
  if (finding.counter_evidence.empty()) {
    finding.counter_evidence =
        "More processors shorten the run only where the threads do not wait for each other then.";
  }
  finding.fix = fix_of(rules.trace(), time);
  finding.verify = "fathom threads TRACE --sort -queued_ns";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace too_few_cores_rule

Rule too_few_cores() {
  return {.id = "too-few-cores",
          .title = "More threads that could run than processors",
          .doc = too_few_cores_rule::kDoc,
          .check = too_few_cores_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
