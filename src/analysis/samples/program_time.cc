// Sums up what the threads of a program did.
#include "analysis/samples/program_time.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/samples/unsampled.h"
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

Duration scaled(Duration time, double part) {
  return duration_ns(static_cast<std::int64_t>(part * ns(time)));
}

/// The part of a thread's time for which it waited so, its time in the run queue left out.
double part_of(const ThreadSum& thread, WaitClass wait) {
  const Duration rest = thread.wall() - thread.queued;
  return rest <= Duration{} ? 0 : ns(thread.waited(wait)) / ns(rest);
}

/// On a processor, 0…1 of the time outside of the run queue.
double computing_of(const Activity& activity, Duration left_out = {}) {
  const Duration own = activity.on_cpu + activity.blocked();
  return own <= Duration{} ? 0 : ns(activity.on_cpu - left_out) / ns(own);
}

Activity activity_of(const ThreadSum& thread) {
  Activity activity{.on_cpu = thread.on_cpu, .queued = thread.queued, .waits = thread.waits};
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (is_for_others(static_cast<WaitClass>(i))) activity.waits[i] = {};
  }
  return activity;
}

void add(Activity& to, const Activity& more, double factor = 1) {
  to.on_cpu += scaled(more.on_cpu, factor);
  to.queued += scaled(more.queued, factor);
  for (std::size_t i = 0; i < kWaitClasses; ++i) to.waits[i] += scaled(more.waits[i], factor);
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

/// What threads wanted of the processors, over stretches of kDemandOver.
class Demand {
 public:
  explicit Demand(Time begin) : begin_(begin) {}

  /// What a thread waited for a lock until its next turn.
  void add_lock(const StackSample& sample) { turns_[{sample.pid, sample.tid}] += sample.blocked; }

  /// What a thread ran or could have run since it was last met running: that is all that is known
  /// of when, and a look that came late covers many stretches.
  void add(const StackSample& sample) {
    const Duration ready = sample.on_cpu + sample.queued;
    if (ready <= Duration{}) return;
    const std::pair thread(sample.pid, sample.tid);
    const auto [last, fresh] = last_.try_emplace(thread, sample.time - ready);
    // A thread wants one processor at most.
    const Time begin = std::max(begin_, std::min(last->second, sample.time - ready));
    last->second = sample.time;
    const auto turn = turns_.find(thread);
    const Duration locked = turn == turns_.end() ? Duration{} : std::exchange(turn->second, {});
    const double length = ns(sample.time - begin);
    if (length <= 0) return;
    const Wanted per_ns{
        .ready = ns(ready) / length,
        .queued = ns(sample.queued) / length,
        .needed = needed(ns(sample.on_cpu), ns(sample.queued), ns(locked)) / length};
    const std::int64_t first = (begin - begin_) / kDemandOver;
    const std::int64_t end = (sample.time - begin_) / kDemandOver;
    if (first == end) {
      stretches_[first].own.add(per_ns, length);
      return;
    }
    stretches_[first].own.add(per_ns, ns(begin_ + (first + 1) * kDemandOver - begin));
    stretches_[first + 1].change.add(per_ns, ns(kDemandOver));
    stretches_[end].change.add(per_ns, -ns(kDemandOver));
    stretches_[end].own.add(per_ns, ns(sample.time - (begin_ + end * kDemandOver)));
  }

  /// Of the time in the queue, what the program's own threads cause with so many processors.
  struct Queue {
    double own = 0;      ///< ns for which more of them were ready than there are processors.
    double starved = 0;  ///< What more processors would end.
  };
  [[nodiscard]] Queue beyond(double processors) const {
    const double most = processors * ns(kDemandOver);
    const auto over = [most](double wanted, double queued) {
      return wanted > kDemandBeyond * most ? std::min(queued, wanted - most) : 0.0;
    };
    Queue queue;
    const auto add = [&](const Wanted& wanted, double times) {
      queue.own += times * over(wanted.ready, wanted.queued);
      queue.starved += times * over(wanted.needed, wanted.queued);
    };
    Wanted steady;
    for (auto at = stretches_.begin(); at != stretches_.end(); ++at) {
      const auto& [number, stretch] = *at;
      steady.add(stretch.change, 1);
      Wanted all = steady;
      all.add(stretch.own, 1);
      add(all, 1);
      // Up to the next that is kept, all are alike.
      const auto next = std::next(at);
      if (next != stretches_.end()) add(steady, static_cast<double>(next->first - number - 1));
    }
    return queue;
  }

 private:
  struct Wanted {
    double ready = 0;  ///< ns.
    double queued = 0;
    double needed = 0;  ///< What it would be on a processor if there were one for each thread.
    void add(const Wanted& more, double factor) {
      ready += factor * more.ready;
      queued += factor * more.queued;
      needed += factor * more.needed;
    }
  };
  struct Stretch {
    Wanted own;
    Wanted change;  ///< Of what is wanted in this one and in all that follow.
  };

  /// Without a queue, a thread that goes round by a lock would divide that time between its turns
  /// and its waits for the lock as it divides the rest: so one that computes alone needs all of it.
  static double needed(double on_cpu, double queued, double locked) {
    if (locked <= 0) return on_cpu + queued;
    return on_cpu + queued * on_cpu / (on_cpu + locked);
  }

  Time begin_;
  /// A thread may be ready for long: only those where its time begins and ends are kept.
  std::map<std::int64_t, Stretch> stretches_;
  std::map<std::pair<std::int64_t, std::int64_t>, Time> last_;  ///< When a thread was met running.
  std::map<std::pair<std::int64_t, std::int64_t>, Duration> turns_;  ///< Its waits since then.
};

void add_starved(const Trace& trace, const StackRoles& roles, ProgramTime& program) {
  Demand demand(program.time.begin);
  for (const StackSample& sample : trace.stack_samples) {
    if (sample.blocked > Duration{}) {
      const WaitClass wait = roles.wait_of(sample);
      if (wait == WaitClass::lock || wait == WaitClass::gil) demand.add_lock(sample);
    }
    demand.add(sample);
  }
  const Demand::Queue queue = demand.beyond(*program.processors);
  program.starved = duration_ns(static_cast<std::int64_t>(queue.starved));
  program.own_queue = duration_ns(static_cast<std::int64_t>(queue.own));
}

/// A wait that goes on is sampled after this time, give or take a look.
constexpr Duration kGivenEvery = duration_ns(4'500'000'000);

/// Per thread, for how long it waited for the global interpreter lock with functions of libraries
/// alone on its stack, and not in a worker of a pool: the threads by which a pool hands work on
/// have next to nothing to do with it.
std::map<std::pair<std::int64_t, std::int64_t>, Duration> idle_at_gil(const Trace& trace,
                                                                      const StackRoles& roles) {
  std::map<std::pair<std::int64_t, std::int64_t>, Duration> idle;
  for (const StackSample& sample : trace.stack_samples) {
    const bool hands_on = roles.python(sample.frame) && !roles.of_user(sample.frame) &&
                          !roles.in_pool_worker(sample.frame);
    if (sample.blocked > Duration{} && hands_on && roles.wait_of(sample) == WaitClass::gil)
      idle[{sample.pid, sample.tid}] += sample.blocked;
  }
  return idle;
}

/// Divides the time in the run queue of those whose time counts among computing and waiting.
void add_queue_parts(const Trace& trace, const StackRoles& roles, ProgramTime& program) {
  struct AtPlace {
    Duration on_cpu{};
    Duration syncing{};
    Duration queued{};
    Duration blocked{};
  };
  using Place = std::tuple<std::int64_t, std::int64_t, StringId, StringId, std::int32_t>;
  std::map<Place, AtPlace> places;
  for (const StackSample& sample : trace.stack_samples) {
    const auto part = program.parts.find({sample.pid, sample.tid});
    if (part == program.parts.end()) continue;
    const std::uint32_t user = roles.user_frame(sample.frame);
    const StackFrame frame = user == kNoFrame ? StackFrame{} : trace.stack_frames[user];
    AtPlace& at = places[{sample.pid, sample.tid, frame.function, frame.file, frame.line}];
    const Duration on_cpu = program.counted(sample);
    at.on_cpu += on_cpu;
    if (roles.in_sync_call(sample.frame)) at.syncing += on_cpu;
    at.queued += scaled(sample.queued, part->second);
    if (sample.blocked > Duration{}) at.blocked += program.counted(sample, roles.wait_of(sample));
  }
  for (const auto& [place, at] : places) {
    program.syncing += at.syncing;
    const Duration rest = at.on_cpu + at.blocked;
    program.queued_to_compute +=
        rest <= Duration{} ? at.queued : scaled(at.queued, ns(at.on_cpu - at.syncing) / ns(rest));
  }
}

/// Finds stretches, thread by thread, in the order of time. A wait that is long enough for a
/// stretch of its own begins one where another such wait was before it: that it was the same turn
/// of the loop is not known then.
class Loops {
 public:
  Loops(const Trace& trace, const StackRoles& roles) : trace_(trace), roles_(roles) {}

  void add(const StackSample& sample) {
    Open& open = open_[{sample.pid, sample.tid}];
    if (!roles_.in_loop(sample.frame)) {
      // What was not met with a stack says nothing about the loop.
      if (sample.frame != kNoFrame) end(open);
      return;
    }
    const std::uint32_t callback = roles_.callback(sample.frame);
    if (callback == kNoFrame) return end(open);
    if (open.stretch.callback == kNoFrame || !same_function(open.stretch.callback, callback)) {
      end(open);
      begin(open, sample, callback);
    } else if (sample.blocked >= kLongStretch && open.waited && open.last_wait < kGivenEvery) {
      keep(open.stretch);
      begin(open, sample, callback);
    }
    open.stretch.on_cpu += sample.on_cpu;
    open.stretch.blocked += sample.blocked;
    open.unmet += sample.on_cpu + sample.blocked;
    open.waited = open.waited || sample.blocked >= kLongStretch;
    // One that is sampled in parts is one.
    if (sample.blocked > Duration{} && open.last_wait < kGivenEvery) ++open.stretch.waits;
    open.last_wait = sample.blocked;
  }

  std::vector<LoopStretch> take() {
    for (auto& [thread, open] : open_) end(open);
    std::ranges::stable_sort(found_, std::ranges::greater(), &LoopStretch::length);
    return std::move(found_);
  }
  [[nodiscard]] Duration longest_unmet() const { return longest_unmet_; }

 private:
  struct Open {
    LoopStretch stretch;
    bool waited = false;   ///< A wait of it is long enough for a stretch.
    Duration last_wait{};  ///< 0 where it ran since.
    Duration unmet{};      ///< With the stretches right before it.
  };
  [[nodiscard]] bool same_function(std::uint32_t a, std::uint32_t b) const {
    const StackFrame& one = trace_.stack_frames[a];
    const StackFrame& other = trace_.stack_frames[b];
    return one.function == other.function && one.file == other.file;
  }
  static void begin(Open& open, const StackSample& sample, std::uint32_t callback) {
    open.stretch = {.pid = sample.pid,
                    .tid = sample.tid,
                    .callback = callback,
                    .begin = sample.time - (sample.on_cpu + sample.queued + sample.blocked)};
    open.waited = false;
    open.last_wait = {};
  }
  void keep(const LoopStretch& stretch) {
    if (stretch.length() >= kLongStretch) found_.push_back(stretch);
  }
  void end(Open& open) {
    keep(open.stretch);
    longest_unmet_ = std::max(longest_unmet_, open.unmet);
    open = {};
  }

  const Trace& trace_;
  const StackRoles& roles_;
  std::map<std::pair<std::int64_t, std::int64_t>, Open> open_;
  std::vector<LoopStretch> found_;
  Duration longest_unmet_{};
};

void add_loops(const Trace& trace, const StackRoles& roles, ProgramTime& program) {
  Loops loops(trace, roles);
  std::set<std::pair<std::int64_t, std::int64_t>> with_loop;
  for (const StackSample& sample : trace.stack_samples) {
    loops.add(sample);
    if (roles.in_loop(sample.frame)) with_loop.emplace(sample.pid, sample.tid);
  }
  program.stretches = loops.take();
  program.longest_unmet = loops.longest_unmet();
  for (const LoopStretch& stretch : program.stretches) program.loop_blocked += stretch.length();
  for (const ThreadSum& thread : program.threads) {
    if (!with_loop.contains({thread.pid, thread.tid})) continue;
    program.loops += thread.wall() - thread.queued;
    program.loops_queued += thread.queued;
  }
}

/// One that was there for less of the waiting does not explain it alone.
constexpr double kExplains = 0.5;

/// What those do that a thread waits for.
struct Others {
  Activity activity;
  std::vector<const ThreadSum*> threads;  ///< Whose that is.
};

/// Threads of libraries wait for work in ways that are not known. A process without Python has
/// started its threads itself.
bool is_of_library(const ThreadSum& thread, const ThreadSum& main) {
  return main.python && !thread.python && thread.pid == main.pid &&
         thread.on_cpu * 20 < thread.wall();
}

/// `waiting` is how long.
Others others_of(const ProgramTime& program, const ThreadSum& main, Duration waiting) {
  Others all;
  all.activity.on_cpu = program.unsampled;
  const ThreadSum* busiest = nullptr;
  for (const ThreadSum& thread : program.threads) {
    if (&thread == &main || is_of_library(thread, main)) continue;
    add(all.activity, activity_of(thread));
    all.threads.push_back(&thread);
    if (busiest == nullptr || thread.on_cpu > busiest->on_cpu) busiest = &thread;
  }
  if (busiest == nullptr || program.unsampled > busiest->on_cpu) return all;
  const Activity most = activity_of(*busiest);
  const bool explains =
      computing_of(most) >= kComputes && ns(most.whole()) >= kExplains * ns(waiting);
  return explains ? Others{.activity = most, .threads = {busiest}} : all;
}

/// A thread beside the main one that computes for half of the time or more, while that does next to
/// nothing: a server's, or one that a main thread without work started.
const ThreadSum* worker_of(const ProgramTime& program, const ThreadSum& main) {
  if (computing_of(program.activity) >= kComputes) return nullptr;
  const ThreadSum* busiest = nullptr;
  for (const ThreadSum& thread : program.threads) {
    if (&thread == &main || ns(thread.on_cpu) < kExplains * ns(program.wall() - thread.queued))
      continue;
    if (busiest == nullptr || thread.on_cpu > busiest->on_cpu) busiest = &thread;
  }
  return busiest;
}

/// In place of the main thread's waits for others, what these do meanwhile.
void add_others(ProgramTime& program, const ThreadSum& main) {
  const Duration waiting = main.waited(WaitClass::threads) + main.waited(WaitClass::child);
  if (waiting <= Duration{}) return;
  const Others others = others_of(program, main, waiting);
  // Of what others wait for each other, nothing is left: only what was seen of them counts.
  const Duration whole = others.activity.whole();
  const double part = whole <= Duration{} ? 0 : std::min(1.0, ns(whole) / ns(waiting));
  if (part > 0) {
    const double factor = part * ns(waiting) / ns(whole);
    add(program.activity, others.activity, factor);
    for (const ThreadSum* const thread : others.threads)
      program.parts[{thread->pid, thread->tid}] = factor;
  }
  program.part_for_others = 1 - part;
  for (const WaitClass wait : {WaitClass::threads, WaitClass::child}) {
    const auto i = static_cast<std::size_t>(wait);
    program.activity.waits[i] +=
        duration_ns(static_cast<std::int64_t>(program.part_for_others * ns(main.waits[i])));
  }
  program.by_others = part > 0 && ns(waiting) >= kByOthers * ns(main.on_cpu + main.blocked);
}

void add_activity(ProgramTime& program) {
  const auto at = std::ranges::find_if(program.threads, [&](const ThreadSum& thread) {
    return thread.pid == program.main_pid && thread.is_main();
  });
  const ThreadSum& main = at != program.threads.end()
                              ? *at
                              : *std::ranges::max_element(program.threads, {}, &ThreadSum::wall);
  program.whose = {main.pid, main.tid};
  program.activity = activity_of(main);
  program.parts[*program.whose] = 1;
  add_others(program, main);
  if (const ThreadSum* const worker = worker_of(program, main)) {
    program.activity = {.on_cpu = worker->on_cpu, .queued = worker->queued, .waits = worker->waits};
    program.whose = {worker->pid, worker->tid};
    program.parts = {{*program.whose, 1}};
    program.part_for_others = 1;
    program.by_others = true;
  } else if (computing_of(program.activity) < kComputes &&
             ns(program.unsampled) >= kExplains * ns(program.wall())) {
    // As if it were a worker: nothing is known of it but that it computed.
    program.activity = {.on_cpu = program.unsampled};
    program.whose.reset();
    program.parts.clear();
    program.by_others = true;
  }
}

}  // namespace

Duration Activity::blocked() const {
  Duration sum{};
  for (const Duration wait : waits) sum += wait;
  return sum;
}

Duration Activity::whole() const { return on_cpu + queued + blocked(); }

double Activity::share(Duration part) const {
  return whole() <= Duration{} ? 0 : ns(part) / ns(whole());
}

WaitClass Activity::longest() const {
  const auto most = std::ranges::max_element(waits);
  return static_cast<WaitClass>(most - waits.begin());
}

double ProgramTime::computing() const { return computing_of(activity, syncing); }

Duration ProgramTime::counted(const StackSample& sample) const {
  const auto part = parts.find({sample.pid, sample.tid});
  return part == parts.end() ? Duration{} : scaled(sample.on_cpu, part->second);
}

double ProgramTime::average(Duration sum) const { return ns(sum) / ns(wall()); }

Duration ProgramTime::counted(const StackSample& sample, WaitClass wait) const {
  const auto part = parts.find({sample.pid, sample.tid});
  if (part == parts.end()) return {};
  double counts = part->second;
  if (is_for_others(wait)) {
    counts = part->first == whose ? part_for_others : 0;
  }
  return scaled(sample.blocked, counts);
}

std::optional<Duration> ProgramTime::displaced() const {
  if (!own_queue) return {};
  return std::max(Duration{}, queued - *own_queue);
}

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
  program.unsampled = unsampled_time(trace);
  const auto idle = idle_at_gil(trace, roles);
  for (const ThreadSum& thread : program.threads) {
    const double life = program.average(thread.wall());
    const auto at = idle.find({thread.pid, thread.tid});
    const double waited = ns(thread.waited(WaitClass::gil));
    const double of_program = at == idle.end() ? 1 : (waited - ns(at->second)) / waited;
    program.gil_waiters += life * part_of(thread, WaitClass::gil) * of_program;
    program.lock_waiters += life * part_of(thread, WaitClass::lock);
  }
  program.processors = number_of(trace, "samples.processors");
  if (program.processors) add_starved(trace, roles, program);
  add_loops(trace, roles, program);
  add_activity(program);
  add_queue_parts(trace, roles, program);
  return program;
}

}  // namespace fathom
