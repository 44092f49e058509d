// Sums up what the threads of a program did.
#include "analysis/samples/program_time.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "analysis/util/json_list.h"
#include "store/sample_weights.h"

namespace fathom {
namespace {

/// Less is too little to say anything of.
constexpr Duration kLeastTime = duration_ns(50'000'000);
/// Demand is compared with processors over stretches of this length, and must exceed them by this
/// factor: threads that wait for a moment are no sign of too few.
constexpr Duration kDemandOver = duration_ns(200'000'000);
constexpr double kDemandBeyond = 1.15;
/// Of several threads that are waited for, one that computes for this share of its time explains
/// the waiting.
constexpr double kComputes = 0.2;
/// A main thread that waits for others for this share of its time does nothing by itself.
constexpr double kByOthers = 0.5;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

constexpr bool is_for_others(WaitClass wait) {
  return wait == WaitClass::threads || wait == WaitClass::child;
}

/// The part of a thread's time for which it waited so, its time in the run queue left out.
double part_of(const ThreadSum& thread, WaitClass wait) {
  const Duration rest = thread.wall() - thread.queued;
  return rest <= Duration{} ? 0 : ns(thread.waited(wait)) / ns(rest);
}

Activity activity_of(const ThreadSum& thread) {
  Activity activity{.on_cpu = thread.on_cpu, .queued = thread.queued, .waits = thread.waits};
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (is_for_others(static_cast<WaitClass>(i))) activity.waits[i] = {};
  }
  return activity;
}

void add(Activity& to, const Activity& more, double factor = 1) {
  const auto scaled = [factor](Duration time) {
    return duration_ns(static_cast<std::int64_t>(factor * ns(time)));
  };
  to.on_cpu += scaled(more.on_cpu);
  to.queued += scaled(more.queued);
  for (std::size_t i = 0; i < kWaitClasses; ++i) to.waits[i] += scaled(more.waits[i]);
}

std::optional<double> number_of(const Trace& trace, std::string_view key) {
  const Fact* const fact = trace.fact(key);
  if (fact == nullptr) return {};
  const double number = std::strtod(std::string(json_unquoted(fact->value)).c_str(), nullptr);
  return number > 0 ? std::optional(number) : std::nullopt;
}

std::int64_t main_process(const Trace& trace, const std::vector<ThreadSum>& threads) {
  for (const ProcessRun& run : trace.process_runs) {
    if (trace.text(run.role) == "main") return run.pid;
  }
  const auto first = std::ranges::min_element(threads, {}, &ThreadSum::begin);
  return first->pid;
}

/// Waits in the queue of a time in which the program's own threads wanted more than there is.
Duration starved_time(const Trace& trace, Interval time, double processors) {
  struct Demand {
    Duration ready{};
    Duration queued{};
  };
  std::map<std::int64_t, Demand> stretches;
  for (const StackSample& sample : trace.stack_samples) {
    if (sample.on_cpu + sample.queued <= Duration{}) continue;
    // A sample ends at its time.
    Demand& demand = stretches[(sample.time - time.begin - duration_ns(1)) / kDemandOver];
    demand.ready += sample.on_cpu + sample.queued;
    demand.queued += sample.queued;
  }
  Duration starved{};
  for (const auto& [stretch, demand] : stretches) {
    if (ns(demand.ready) > kDemandBeyond * processors * ns(kDemandOver)) starved += demand.queued;
  }
  return starved;
}

/// Finds stretches, thread by thread, in the order of time.
class Loops {
 public:
  Loops(const Trace& trace, const StackRoles& roles) : trace_(trace), roles_(roles) {}

  void add(const StackSample& sample) {
    const std::pair thread(sample.pid, sample.tid);
    if (!roles_.in_loop(sample.frame)) {
      // What was not met with a stack says nothing about the loop.
      if (sample.frame != kNoFrame) end(thread);
      return;
    }
    const std::uint32_t callback = roles_.callback(sample.frame);
    if (callback == kNoFrame) return end(thread);
    LoopStretch& open = open_[thread];
    if (open.callback == kNoFrame || !same_function(open.callback, callback)) {
      end(thread);
      open_[thread] = {.pid = sample.pid,
                       .tid = sample.tid,
                       .callback = callback,
                       .begin = sample.time - (sample.on_cpu + sample.queued + sample.blocked)};
    }
    open_[thread].on_cpu += sample.on_cpu;
    open_[thread].blocked += sample.blocked;
  }

  std::vector<LoopStretch> take() {
    for (auto& [thread, open] : open_) keep(open);
    std::ranges::stable_sort(found_, std::ranges::greater(), &LoopStretch::length);
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool same_function(std::uint32_t a, std::uint32_t b) const {
    const StackFrame& one = trace_.stack_frames[a];
    const StackFrame& other = trace_.stack_frames[b];
    return one.function == other.function && one.file == other.file;
  }
  void keep(const LoopStretch& stretch) {
    if (stretch.length() >= kLongStretch) found_.push_back(stretch);
  }
  void end(const std::pair<std::int64_t, std::int64_t>& thread) {
    keep(open_[thread]);
    open_[thread] = {};
  }

  const Trace& trace_;
  const StackRoles& roles_;
  std::map<std::pair<std::int64_t, std::int64_t>, LoopStretch> open_;
  std::vector<LoopStretch> found_;
};

void add_loops(const Trace& trace, const StackRoles& roles, ProgramTime& program) {
  Loops loops(trace, roles);
  std::set<std::pair<std::int64_t, std::int64_t>> with_loop;
  for (const StackSample& sample : trace.stack_samples) {
    loops.add(sample);
    if (roles.in_loop(sample.frame)) with_loop.emplace(sample.pid, sample.tid);
  }
  program.stretches = loops.take();
  for (const LoopStretch& stretch : program.stretches) program.loop_blocked += stretch.length();
  for (const ThreadSum& thread : program.threads) {
    if (with_loop.contains({thread.pid, thread.tid}))
      program.loops += thread.wall() - thread.queued;
  }
}

/// One that was there for less of the waiting does not explain it alone.
constexpr double kExplains = 0.5;

Duration seen(const Activity& activity) { return activity.whole() + activity.queued; }

/// What those do that a thread waits for, `waiting` long.
Activity activity_of_others(const std::vector<ThreadSum>& threads, const ThreadSum& main,
                            Duration waiting) {
  Activity all;
  const ThreadSum* busiest = nullptr;
  for (const ThreadSum& thread : threads) {
    if (&thread == &main) continue;
    // Threads of libraries wait for work in ways that are not known.
    if (!thread.python && thread.pid == main.pid && thread.on_cpu * 20 < thread.wall()) continue;
    add(all, activity_of(thread));
    if (busiest == nullptr || thread.on_cpu > busiest->on_cpu) busiest = &thread;
  }
  if (busiest == nullptr) return all;
  const Activity most = activity_of(*busiest);
  const bool explains =
      most.share(most.on_cpu) >= kComputes && ns(seen(most)) >= kExplains * ns(waiting);
  return explains ? most : all;
}

/// A thread beside the main one that computes for half of the time or more, while that does next to
/// nothing: a server's, or one that a main thread without work started.
const ThreadSum* worker_of(const ProgramTime& program, const ThreadSum& main) {
  if (program.activity.share(program.activity.on_cpu) >= kComputes) return nullptr;
  const ThreadSum* busiest = nullptr;
  for (const ThreadSum& thread : program.threads) {
    if (&thread == &main || ns(thread.on_cpu) < kExplains * ns(program.wall() - thread.queued))
      continue;
    if (busiest == nullptr || thread.on_cpu > busiest->on_cpu) busiest = &thread;
  }
  return busiest;
}

void add_activity(ProgramTime& program) {
  const auto at = std::ranges::find_if(program.threads, [&](const ThreadSum& thread) {
    return thread.pid == program.main_pid && thread.is_main();
  });
  const ThreadSum& main = at != program.threads.end()
                              ? *at
                              : *std::ranges::max_element(program.threads, {}, &ThreadSum::wall);
  program.activity = activity_of(main);
  const Duration for_others = main.waited(WaitClass::threads) + main.waited(WaitClass::child);
  program.by_others = ns(for_others) >= kByOthers * ns(main.on_cpu + main.blocked);
  if (for_others > Duration{}) {
    const Activity others = activity_of_others(program.threads, main, for_others);
    // Of what others wait for each other, nothing is left: only what was seen of them counts.
    const double part =
        others.whole() <= Duration{} ? 0 : std::min(1.0, ns(seen(others)) / ns(for_others));
    if (part > 0) add(program.activity, others, part * ns(for_others) / ns(others.whole()));
    for (const WaitClass wait : {WaitClass::threads, WaitClass::child}) {
      const auto i = static_cast<std::size_t>(wait);
      program.activity.waits[i] +=
          duration_ns(static_cast<std::int64_t>((1 - part) * ns(main.waits[i])));
    }
  }
  if (const ThreadSum* const worker = worker_of(program, main)) {
    program.activity = activity_of(*worker);
    program.by_others = true;
  }
}

}  // namespace

Duration Activity::whole() const {
  Duration sum = on_cpu;
  for (const Duration wait : waits) sum += wait;
  return sum;
}

double Activity::share(Duration part) const {
  return whole() <= Duration{} ? 0 : ns(part) / ns(whole());
}

WaitClass Activity::longest() const {
  const auto most = std::ranges::max_element(waits);
  return static_cast<WaitClass>(most - waits.begin());
}

double ProgramTime::average(Duration sum) const { return ns(sum) / ns(wall()); }

std::optional<ProgramTime> program_time(const Trace& trace, const StackRoles& roles) {
  if (!waits_are_known(trace)) return {};
  ProgramTime program;
  program.threads = thread_sums(trace, roles);
  if (program.threads.empty()) return {};
  program.main_pid = main_process(trace, program.threads);
  program.time = {Time::max(), Time::min()};
  for (const ThreadSum& thread : program.threads) {
    program.time.begin = std::min(program.time.begin, thread.begin);
    program.time.end = std::max(program.time.end, thread.end);
    program.on_cpu += thread.on_cpu;
    program.queued += thread.queued;
    program.gil += thread.waited(WaitClass::gil);
    program.locks += thread.waited(WaitClass::lock);
  }
  if (program.wall() < kLeastTime) return {};
  for (const ThreadSum& thread : program.threads) {
    const double life = program.average(thread.wall());
    program.gil_waiters += life * part_of(thread, WaitClass::gil);
    program.lock_waiters += life * part_of(thread, WaitClass::lock);
  }
  program.processors = number_of(trace, "samples.processors");
  if (program.processors) program.starved = starved_time(trace, program.time, *program.processors);
  add_loops(trace, roles, program);
  add_activity(program);
  return program;
}

}  // namespace fathom
