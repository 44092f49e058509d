// Looks at the threads of a process.
#include "sample/process_sampler.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <span>
#include <unordered_map>

#include <unistd.h>

#include "base/hash.h"
#include "base/proc_file.h"
#include "capture/system/proc.h"
#include "sample/mappings.h"
#include "sample/native/thread_reader.h"
#include "sample/process_look.h"

namespace fathom::sample {
namespace {

constexpr std::int64_t kMs = 1'000'000;
/// How often new threads are looked for where some task of the machine is new, and in any case.
/// Processes that were forked and are not looked for.
constexpr std::size_t kMostBegun = 1024;
constexpr std::int64_t kListEvery = 50 * kMs;
constexpr std::int64_t kWholeListEvery = 1000 * kMs;
/// Where no Python was found, it is looked for again after so long, twice as long each time.
constexpr std::int64_t kSearchAfter = 50 * kMs;
constexpr std::int64_t kSlowestSearch = 5000 * kMs;
constexpr int kQuickSearches = 40;
/// A thread that sleeps is looked at less and less often: after some looks each step is twice as
/// long.
constexpr int kQuietLooks = 2;
constexpr int kMostSteps = 5;
constexpr std::int64_t kQuietStep = 2 * kMs;
constexpr std::int64_t kSlowestLook = 30 * kMs;
/// One whose switches are written down is looked at when there is one, and in any case after this.
constexpr std::int64_t kStillLook = 250 * kMs;
/// After this where nobody asks what it waits for.
constexpr std::int64_t kStillLookForTime = 1000 * kMs;
/// What runs is found to have run after this at the latest.
constexpr std::int64_t kMostTick = 50 * kMs;
/// So often in a row one has run without a switch whose record is broken off.
constexpr int kMostSilent = 2;
/// A thread that wakes for a moment and sleeps again is looked at this often where looking costs
/// too much: the more seldom the more threads there are, for all of them together cost the same.
constexpr std::int64_t kPassedByPerThread = kMs;
constexpr std::int64_t kPassedByLeast = 60 * kMs;
constexpr std::int64_t kPassedByMost = 240 * kMs;
/// What a sleeping thread spent is given at least so often.
constexpr std::int64_t kGiveEvery = 5000 * kMs;
/// New Python threads write down who they are a little after they began.
constexpr int kListPython = 4;
/// How often Python's threads are listed anew while one runs that is not among them: it may begin
/// late, or call Python only now.
constexpr std::int64_t kListUnknownEvery = 500 * kMs;
constexpr int kMostLost = 3;
/// How often the hook's canary is looked for.
constexpr int kCanarySearches = 16;
constexpr int kMostInVain = 20;
/// Of the stack of one that waits, as much as perf copies of one that runs.
constexpr std::uint64_t kMostWaitBytes = 32768;
/// A thread that is switched more often than once in so many ns is asked for no record of it.
constexpr std::int64_t kMostPerSwitch = kMs / 4;
/// Of switches after a look, as the kernel has their times: it has others than we in a namespace of
/// times, where none would ever be used.
constexpr std::size_t kMostSwitches = 4096;
/// Stacks of perf that wait for the time that they are given.
constexpr std::size_t kMostNatives = 1024;
/// Of the clock by which the kernel tells when a thread began.
constexpr std::int64_t kTick = 10 * kMs;
/// Python's stack and the native one are of one moment where they are no further apart.
constexpr std::int64_t kMostApart = kMs;
/// Looks at a running thread between two ticks of the kernel's clock that are kept: 10 ms at 10
/// kHz.
constexpr std::size_t kMostRunning = 128;
/// Of perf's periods: a thread that has run for so many without one sample is not seen by it.
constexpr std::int64_t kSilent = 4;
/// A thread that waits where it did so long ago is not read again for its native functions.
constexpr std::int64_t kKnownWait = 2000 * kMs;
/// A thread that was ready for a smaller part of the busiest one's time does not count for the
/// processors that the process may use.
constexpr std::int64_t kLeastPart = 20;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 * kMs + now.tv_nsec;
}

/// One of so many equal parts of what a thread ran.
Spent take_part(Spent& running, std::size_t parts) {
  const auto count = static_cast<std::int64_t>(parts);
  const Spent part{
      .on_cpu = running.on_cpu / count, .queued = running.queued / count, .blocked = 0};
  running.on_cpu -= part.on_cpu;
  running.queued -= part.queued;
  return part;
}

std::string folder_of(pid_t pid, pid_t tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
}

std::string program_of(pid_t pid) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string name_of(pid_t pid, pid_t tid) {
  std::string name = read_file(folder_of(pid, tid) + "/comm").value_or("");
  while (name.ends_with('\n')) name.pop_back();
  return name;
}

/// Of what programs and libraries are mapped where, each of their parts: a library is mapped part
/// by part, and in one of which only the first is there nothing is found yet.
std::uint64_t sum_of(const std::vector<Mapping>& mappings) {
  std::uint64_t sum = 1;
  for (const Mapping& mapping : mappings) {
    const bool counts = mapping.offset == 0 || mapping.executable || mapping.writable;
    if (!counts || !mapping.path.starts_with('/')) continue;
    sum = hash_mix(hash_mix(sum, mapping.begin), mapping.end);
  }
  return sum;
}

bool holds_torch(const std::vector<Mapping>& mappings) {
  return std::ranges::any_of(mappings, [](const Mapping& mapping) {
    return mapping.path.find("/libtorch") != std::string::npos;
  });
}

}  // namespace

StackCounts& StackCounts::operator+=(const StackCounts& more) {
  whole += more.whole;
  shortened += more.shortened;
  unread += more.unread;
  return *this;
}

ProcessSampler::Thread::Thread(pid_t pid, const Task& task, std::int64_t begin, const Spent& before,
                               FileBudget& files)
    : id(task.id),
      name(task.name),
      native(task.native),
      schedule(folder_of(pid, task.id) + "/schedstat", files),
      call(folder_of(pid, task.id) + "/syscall", files),
      ledger(begin, before.on_cpu, before.queued),
      scheduled(task.switches),
      given(begin) {}

ProcessSampler::ProcessSampler(pid_t pid, const Options& options, FileBudget& files,
                               SampleSink& sink)
    : pid_(pid),
      options_(options),
      files_(files),
      sink_(sink),
      memory_(pid),
      started_(options.fresh),
      reads_waits_(options.native || sink.wants_waits()) {
  list(now_ns());
}

bool ProcessSampler::look(std::int64_t now, bool all) {
  if (now >= next_list_) list(now);
  if (has_torch_) return false;
  if (python_ != nullptr) python_->codes.look_again();
  for (auto at = threads_.begin(); at != threads_.end();) {
    Thread& thread = at->second;
    if (is_left_alone(thread, now, all) || look_at_thread(thread)) {
      ++at;
      continue;
    }
    give_rest(thread);
    unwatch(thread);
    const pid_t id = thread.id;
    const bool taken_over = thread.taken_over;
    children_moved_ = children_moved_ || !thread.tells_children;
    at = threads_.erase(at);
    if (!taken_over) continue;
    // What it ran before was given as that of its former number.
    add_thread(id, now, false);
    list_python_ = kListPython;
    code_.reset();
  }
  return !threads_.empty();
}

void ProcessSampler::finish() {
  for (auto& [id, thread] : threads_) {
    enter_sleep(thread);
    if (const std::optional<Schedule> schedule = read_schedule(thread)) {
      Between looks{.was_asleep = thread.asleep,
                    .is_asleep = false,
                    .same_place = schedule->on_cpu == thread.on_cpu,
                    .blocked = 0,
                    .scheduled = schedule->switches - thread.scheduled,
                    .since = thread.last};
      looks.blocked = enter(thread, *schedule, now_ns());
      if (blocked_unseen(looks)) give_unseen(thread, looks.blocked);
    }
    give_rest(thread);
    unwatch(thread);
  }
  threads_.clear();
}

/// What the kernel reports is asked for only now and then, in case a report was lost.
void ProcessSampler::list(std::int64_t now) {
  next_list_ = now + kListEvery;
  take_names();
  if (begun_.processes.size() > kMostBegun) {  // Nobody asks for them.
    begun_.processes.clear();
    untold_ = true;
  }
  const bool untold = !tells_ || untold_ || now >= next_whole_list_;
  const bool programs = std::exchange(begun_.program, false) || untold;
  const bool threads = std::exchange(begun_.threads, false);
  const std::string program = programs ? program_of(pid_) : program_;
  if (program != program_ && !program.empty()) {
    // It has begun another program.
    forget_python();
    program_ = program;
    list_names_ = true;
    next_search_ = now;
    search_after_ = kSearchAfter;
    quick_searches_ = 0;
    mapped_ = 0;
    if (refused_) reason_.clear();
    refused_ = false;
    code_.reset();
  }
  if (list_names_ || threads || now >= next_whole_list_ ||
      (untold && task_count(pid_) != std::ssize(threads_)))
    list_threads(now);
  if (now >= next_search_) look_for_python(now);
  if (python_ != nullptr) {
    if (list_python_ == 0 && now >= next_unknown_ && runs_unknown()) list_python_ = 1;
    if (list_python_ > 0) {
      next_unknown_ = now + kListUnknownEvery;
      list_python();
      if (python_ != nullptr) look_at_canary();
    }
  }
  if (options_.watch != nullptr) watch_threads(now);
  tells_ =
      std::ranges::all_of(threads_, [](const auto& each) { return each.second.tells_children; });
  begins_to_tell_ = std::ranges::any_of(threads_, [](const auto& each) {
    return each.second.switch_event && !each.second.tells_children;
  });
}

std::vector<pid_t> ProcessSampler::new_children() {
  std::vector<pid_t> children = std::exchange(begun_.processes, {});
  const bool threads = std::exchange(begun_.threads, false);
  if (tells_children() && !threads) return children;
  if (threads || task_count(pid_) != std::ssize(threads_)) list_threads(now_ns());
  const bool all = std::exchange(children_moved_, false);
  const bool untold = std::exchange(untold_, false);
  begins_to_tell_ = false;
  for (auto& [id, thread] : threads_) {
    const bool same = thread.asleep && thread.children_at == thread.ready();
    const bool known = thread.switch_event ? thread.tells_children : same;
    if (known && !all && !untold) continue;
    thread.children_at = thread.ready();
    thread.tells_children = thread.switch_event.has_value();
    const std::vector<pid_t> own = children_of(pid_, id);
    children.insert(children.end(), own.begin(), own.end());
  }
  return children;
}

void ProcessSampler::list_threads(std::int64_t now) {
  bool fresh = false;
  std::int64_t most = 0;
  for (const auto& [id, thread] : threads_) most = std::max(most, thread.ready());
  cpu_set_t all;
  CPU_ZERO(&all);
  const bool another = std::exchange(list_names_, false);
  const bool names = another || now >= next_whole_list_;
  if (names) next_whole_list_ = now + kWholeListEvery;
  for (const pid_t id : task_ids(pid_)) {
    const auto known = threads_.find(id);
    const std::int64_t ready = known == threads_.end() ? 0 : known->second.ready();
    cpu_set_t own;
    // What may run elsewhere but hardly runs is in nobody's way.
    if (ready * kLeastPart >= most && sched_getaffinity(id, sizeof own, &own) == 0)
      CPU_OR(&all, &all, &own);
    if (known == threads_.end()) {
      add_thread(id, now, started_);
      fresh = true;
    } else if (names && !(tells_ && !another && known->second.tells_name)) {
      known->second.name = name_of(pid_, id);
      known->second.tells_name = known->second.switch_event.has_value();
    }
  }
  // Of one that has ended meanwhile nothing is listed.
  if (CPU_COUNT(&all) > 0) processors_ = all;
  // Those that have ended are found when they are looked at: a listing may miss one that is there.
  started_ = true;
  if (fresh) list_python_ = kListPython;
}

/// `from_start`: all that it has run so far counts.
void ProcessSampler::add_thread(pid_t id, std::int64_t now, bool from_start) {
  const Task task = read_counts(pid_, id);
  if (task.state == 'Z' || task.state == 'X' || task.state == '?') return;
  const Spent so_far{.on_cpu = task.on_cpu.value_or(0), .queued = task.queued.value_or(0)};
  // Those that were there before us have run without us.
  const Spent before = from_start ? Spent{} : so_far;
  std::int64_t begin = now;
  std::int64_t scheduled = task.switches;
  if (from_start) {
    begin -= so_far.on_cpu + so_far.queued;
    // It may have slept before it was found. The kernel tells when it began in whole ticks.
    if (task.started > 0) begin = std::min(begin, task.started + kTick);
    scheduled = std::min<std::int64_t>(scheduled, 1);
  }
  const auto [at, fresh] = threads_.try_emplace(id, pid_, task, begin, before, files_);
  if (!fresh) return;
  tells_ = false;
  at->second.scheduled = scheduled;
  at->second.scheduled_when_found = task.switches;
}

void ProcessSampler::look_for_python(std::int64_t now) {
  search_after_ = std::min(std::max(2 * search_after_, kSearchAfter), kSlowestSearch);
  next_search_ = now + (python_ == nullptr ? search_after_ : kSlowestSearch);
  // What has not run since is as it was: one that is kept from running stays in its start.
  const std::int64_t ran = ran_so_far();
  if (python_ == nullptr && searched_ == ran) {
    search_after_ = kSearchAfter;
    next_search_ = now + kSearchAfter;
    if (!unready_.empty()) note_unready();
    return;
  }
  int error = 0;
  const auto mappings = read_mappings(pid_, error);
  if (mappings && options_.without_torch && holds_torch(*mappings)) has_torch_ = true;
  if (python_ != nullptr || has_torch_ || refused_) return;
  searched_ = ran;
  if (!mappings) {
    const Result<PythonOf> python = python_of(pid_, memory_);
    // One that has ended had nothing to show.
    if (!python && python.error().code != ErrorCode::not_found) reason_ = python.error().message;
    return;
  }
  const std::uint64_t mapped = sum_of(*mappings);
  if (mapped == mapped_ || mappings->empty()) return;
  Result<Runtime> runtime = find_runtime(pid_, memory_, *mappings);
  if (runtime) {
    reason_.clear();
    unready_.clear();
    python_ = std::make_unique<Python>(memory_, std::move(*runtime));
    list_python_ = kListPython;
    return;
  }
  const ErrorCode code = runtime.error().code;
  if (code == ErrorCode::io || code == ErrorCode::unsupported) {
    // One that is just starting is ready soon; it looks as one that is not known. So it is never
    // left for good: on a busy machine a start takes long.
    unready_ = runtime.error().message;
    if (!note_unready()) next_search_ = now + kSearchAfter;
    return;
  }
  if (reason_ == unready_) reason_.clear();
  unready_.clear();
  // Memory that may not be read looks as if there were no Python in it.
  std::byte byte{};
  const auto readable = std::ranges::find_if(*mappings, [](const Mapping& mapping) {
    return mapping.readable && !mapping.path.starts_with("[v");
  });
  if (readable == mappings->end() || memory_.read(readable->begin, {&byte, 1})) {
    mapped_ = mapped;
    return;
  }
  // What exec has replaced meanwhile had another memory: it is searched anew.
  const auto again = read_mappings(pid_, error);
  if (!again || sum_of(*again) != mapped) {
    searched_.reset();
    next_search_ = now + kSearchAfter;
    return;
  }
  // One that is about to end has no memory any more, as a thread of the kernel has none.
  Result<PythonOf> python = python_of(pid_, memory_);
  if (python && (*python).user) reason_ = std::move((*python).reason);
}

/// True where it was so for long enough to be reported.
bool ProcessSampler::note_unready() {
  if (quick_searches_ < kQuickSearches) {
    ++quick_searches_;
    return false;
  }
  reason_ = unready_;
  return true;
}

void ProcessSampler::forget_python() {
  if (python_ != nullptr) {
    for (auto& [id, thread] : threads_) {
      // What is left is of the program before; its frames are given while their code is there.
      give_rest(thread);
      thread.asleep = false;
      thread.next = 0;
      thread.slept = 0;
      thread.place = {};
      thread.sampled = {};
      thread.known.clear();
      thread.known_waits.clear();
    }
    sink_.forget_code();
  }
  for (auto& [id, thread] : threads_) {
    thread.reader.reset();
    thread.alongside.reset();
    thread.last_native.clear();
  }
  python_.reset();
  lost_ = 0;
  searched_.reset();
  unready_.clear();
}

std::int64_t ProcessSampler::ran_so_far() const {
  std::int64_t ran = 0;
  for (const auto& [id, thread] : threads_) ran += thread.ready();
  return ran;
}

/// Is the function that the hook has named on the stack that is read of its thread? True, too,
/// where it has changed meanwhile.
bool ProcessSampler::shows_canary() {
  const std::optional<Canary> said = read_canary(memory_, *python_->canary);
  if (!said) return true;
  const auto found = std::ranges::find(threads_, said->native,
                                       [](const auto& each) { return each.second.native; });
  if (found == threads_.end()) return true;
  Thread& thread = found->second;
  bool shown = false;
  if (thread.reader) {
    const Stack& stack = thread.reader->read();
    shown = is_on(stack, *said, python_->codes);
  }
  if (shown) python_->trust = Python::Trust::shown;
  return shown || read_canary(memory_, *python_->canary) != said;
}

/// Nothing that is read of its Python is believed from when it is first found wrong until it is
/// found right; where that does not come, the process has no stacks of Python.
void ProcessSampler::look_at_canary() {
  Python& python = *python_;
  if (python.trust == Python::Trust::shown) return;
  if (!python.canary) {
    if (++python.canary_searches > kCanarySearches) return;
    int error = 0;
    if (const auto mappings = read_mappings(pid_, error)) python.canary = find_canary(*mappings);
  }
  if (!python.canary || shows_canary()) return;
  python.trust = Python::Trust::doubted;
  list_python_ = std::max(list_python_, 1);
  if (++python.canary_missed < kMostCanaryMissed) return;
  forget_python();
  refused_ = true;
  reason_ = kCanaryMissed;
}

/// Has a thread that is not known to be Python's run since they were listed?
bool ProcessSampler::runs_unknown() const {
  return std::ranges::any_of(threads_, [](const auto& each) {
    const Thread& thread = each.second;
    return !thread.reader && thread.ready() > thread.listed;
  });
}

void ProcessSampler::list_python() {
  --list_python_;
  std::unordered_map<std::int64_t, pid_t> by_native;
  std::vector<std::int64_t> natives;
  for (const auto& [id, thread] : threads_) {
    by_native.emplace(thread.native, id);
    natives.push_back(thread.native);
  }
  ThreadList list = read_threads(memory_, python_->runtime, natives);
  lost_ = list.threads.empty() ? lost_ + 1 : 0;
  if (lost_ >= kMostLost) {
    // The same program has begun anew, or Python has ended in it.
    forget_python();
    mapped_ = 0;
    next_search_ = 0;
    return;
  }
  if (list.threads.empty()) ++list_python_;
  if (!list.gils.empty()) python_->gils = std::move(list.gils);
  for (auto& [id, thread] : threads_) {
    thread.listed = thread.ready();
    const bool left = list.complete && thread.reader &&
                      std::ranges::find(list.threads, thread.reader->thread(),
                                        &PythonThread::address) == list.threads.end();
    // What C code calls Python from is Python's only meanwhile.
    if (!left) continue;
    thread.reader.reset();
    thread.alongside.reset();
  }
  for (const PythonThread& each : list.threads) {
    const auto found = by_native.find(each.native);
    if (found == by_native.end()) continue;
    Thread& thread = threads_.at(found->second);
    if (thread.reader && thread.reader->thread() == each.address) continue;
    thread.reader.emplace(memory_, python_->runtime.layout, python_->codes, each.address,
                          each.interpreter);
    thread.found_late = thread.asleep;
    thread.next = 0;
    // What was read before shows the interpreter's loop in place of Python's functions.
    if (options_.below_python) {
      thread.natives.clear();
      thread.last_native.clear();
    }
    if (python_->runtime.layout.on_heap()) thread.alongside.emplace(pid_, found->second);
  }
}

std::optional<Schedule> ProcessSampler::read_schedule(const Thread& thread) {
  return parse_schedule(thread.schedule.read(buffer_));
}

std::int64_t ProcessSampler::enter(Thread& thread, const Schedule& schedule, std::int64_t now) {
  const std::int64_t before = thread.ledger.left().blocked;
  thread.on_cpu = schedule.on_cpu;
  thread.queued = schedule.queued;
  thread.scheduled = schedule.switches;
  thread.last = now;
  thread.ledger.read(now, schedule.on_cpu, schedule.queued);
  return thread.ledger.left().blocked - before;
}

/// Who sleeps is not looked at before it is given a processor, where that is written down.
/// And if nobody uses where it waits, or there is no time for that, not while it has slept again
/// each time.
bool ProcessSampler::is_left_alone(Thread& thread, std::int64_t now, bool all) {
  if (!thread.asleep || !thread.switch_event || !thread.switch_state) return now < thread.next;
  const std::uint64_t state = thread.switch_event->state();
  const auto threads = static_cast<std::int64_t>(threads_.size());
  const std::int64_t passed_by =
      std::clamp(threads * kPassedByPerThread, kPassedByLeast, kPassedByMost);
  const bool may_pass = !reads_waits_ || (!all && now - thread.last < passed_by);
  if (state == *thread.switch_state) {
    if (thread.ran_unseen) return may_pass && now < thread.next;
    thread.still = now;
    return now < thread.next;
  }
  if (!may_pass) return false;
  read_switches(thread);
  const bool sleeps = thread.last_switch && thread.last_switch->out &&
                      !thread.last_switch->displaced && !thread.switches_missing;
  if (!sleeps) return false;
  if (!reads_waits_) {
    thread.scheduled += std::ranges::count(thread.switches, false, &Switch::out);
    thread.switches.clear();
  }
  thread.switch_state = state;
  thread.ran_unseen = true;
  thread.children_at = -1;
  return now < thread.next;
}

void ProcessSampler::read_switches(Thread& thread) {
  const std::size_t before = thread.switches.size();
  if (!thread.switch_event->read(thread.switches, begun_)) {
    thread.switches_missing = true;
    untold_ = true;
  }
  if (std::exchange(begun_.ended, false)) thread.switches_ended = true;
  if (thread.switches.size() > before) thread.last_switch = thread.switches.back();
}

/// A thread may have been given its name by another one.
void ProcessSampler::take_names() {
  for (auto& [id, name] : begun_.names) {
    const auto found = threads_.find(id);
    if (found != threads_.end()) found->second.name = std::move(name);
  }
  begun_.names.clear();
}

/// As if it had been looked at when it was last found to sleep.
void ProcessSampler::enter_sleep(Thread& thread) {
  if (!thread.asleep || thread.still <= thread.last) return;
  thread.ledger.read(thread.still, thread.on_cpu, thread.queued);
  thread.last = thread.still;
  thread.slept = thread.ledger.left().blocked;
}

/// `state` is from before its times were read. A thread that runs again and again without a switch
/// has none any more, as one that has become a program of another user.
void ProcessSampler::look_at_switches(Thread& thread, std::uint64_t state, bool moved) {
  const bool ran = std::exchange(thread.ran_unseen, false);
  const bool silent = thread.asleep && moved && !ran && thread.switch_state == state;
  thread.silent = silent ? thread.silent + 1 : 0;
  thread.switch_state = state;
  if (thread.silent >= kMostSilent) drop_switches(thread);
}

/// Of one that sleeps.
void ProcessSampler::look_later(Thread& thread, std::int64_t now) {
  if (thread.switch_state && !thread.native_missed) {
    thread.next = now + (reads_waits_ ? kStillLook : kStillLookForTime);
    return;
  }
  const int steps = std::min(thread.quiet - kQuietLooks, kMostSteps);
  thread.next = steps <= 0 ? 0 : now + std::min(kSlowestLook, kQuietStep << (steps - 1));
}

/// Since the look at it that goes on.
bool ProcessSampler::has_run(const Thread& thread) {
  if (thread.switch_event && thread.switch_state)
    return thread.switch_event->state() != *thread.switch_state;
  const std::optional<Schedule> schedule = read_schedule(thread);
  return !schedule || schedule->switches != thread.scheduled;
}

/// 'X' where it has ended.
char ProcessSampler::state_of(const Thread& thread) const {
  const std::optional<std::string> stat = read_file(folder_of(pid_, thread.id) + "/stat");
  return stat ? parse_whereabouts(*stat, "").state : 'X';
}

/// `moved`: the scheduler has written down that it ran since the look before.
bool ProcessSampler::is_running(Thread& thread, bool moved, Task& task) {
  task.id = thread.id;
  task.state = 'S';
  // The scheduler writes down what a running one has used at its ticks.
  if (thread.switch_event && thread.last_switch && thread.last - thread.moved < kMostTick) {
    // Whether it was taken from its processor since is known.
    read_switches(thread);
    const bool known = !thread.switches_missing && !thread.switches_ended;
    const bool sleeps = thread.last_switch->out && !thread.last_switch->displaced;
    if (known && !sleeps) return true;
    // Nobody asks for what.
    if (known && moved && !reads_waits_) return false;
  }
  const std::string_view text = thread.call.read(buffer_);
  if (text.starts_with("running")) return true;
  parse_call(text, task);
  thread.blocked_at = native::parse_blocked(text);
  // It is in no call, or what it does may not be seen.
  if (task.call.value_or(-1) < 0) task.state = state_of(thread);
  return text.empty() && task.state == 'R';
}

/// False where it has ended.
bool ProcessSampler::look_at_thread(Thread& thread) {
  enter_sleep(thread);
  std::optional<std::uint64_t> switch_state;
  if (thread.switch_event) switch_state = thread.switch_event->state();
  const std::optional<Schedule> schedule = read_schedule(thread);
  if (!schedule) return false;
  // Another thread has begun another program: then it alone is left, with the number of the first.
  thread.taken_over = schedule->on_cpu < thread.on_cpu;
  if (thread.taken_over) return false;
  const std::int64_t now = now_ns();
  const bool moved = schedule->on_cpu != thread.on_cpu || schedule->queued != thread.queued;
  Between looks{.was_asleep = thread.asleep,
                .is_asleep = false,
                .same_place = false,
                .blocked = 0,
                .scheduled = schedule->switches - thread.scheduled,
                .since = thread.last};
  looks.blocked = enter(thread, *schedule, now);
  if (moved) thread.moved = now;
  if (switch_state) look_at_switches(thread, *switch_state, moved);
  if (!moved && thread.asleep && !thread.found_late) {
    thread.slept = thread.ledger.left().blocked;
    if (thread.native_missed) read_native_wait(thread);
    ++thread.quiet;
    look_later(thread, now);
    if (now - thread.given >= kGiveEvery) {
      give(thread, thread.place, now, thread.ledger.take_blocked(thread.slept), &thread.place.wait);
      thread.slept = 0;
      thread.given = now;
    }
    return true;
  }
  thread.quiet = 0;
  thread.next = 0;
  Task task;
  looks.is_asleep = !is_running(thread, moved, task);
  // One that has ended and that nobody has waited for is blocked by nothing.
  if (task.state == 'Z' || task.state == 'X') return false;
  if (moved || looks.is_asleep) {
    met(thread, task, now, looks);
  } else if (keeps_looks(thread)) {
    // The scheduler has not written down yet what it ran: it does at ticks of the kernel's clock,
    // and is to be asked again.
    read_stack(thread, true);
    thread.place.wait = {};
    thread.running.emplace_back(now, thread.place);
  }
  return true;
}

void ProcessSampler::met(Thread& thread, const Task& task, std::int64_t now, Between looks) {
  std::vector<Frame> frames_before;
  WaitKind wait_before = WaitKind::none;
  const std::optional<BlockedParts> parts = blocked_parts(thread, looks, now);
  const auto unseen = [&] {
    if (!parts) return blocked_unseen(looks) ? looks.blocked : 0;
    return parts->between > kLongUnseen && !looks.same_place ? parts->between : 0;
  };
  if (thread.asleep) {
    // It has woken since: what was blocked until then was so where it slept.
    const bool whole = !looks.is_asleep && unseen() == 0;
    std::int64_t most = thread.slept + (parts ? parts->before : 0);
    if (whole) most = std::numeric_limits<std::int64_t>::max();
    give(thread, thread.place, now, thread.ledger.take_blocked(most), &thread.place.wait);
    frames_before = thread.place.frames;
    wait_before = thread.place.wait.kind;
  }
  thread.given = now;
  thread.found_late = false;
  // It fell asleep after it was met running.
  if (looks.is_asleep) give_running(thread, now);
  if (looks.is_asleep && !reads_waits_)
    forget_place(thread);
  else if (is_read_for_perf(thread, looks))
    thread.place = thread.sampled;
  else
    read_stack(thread, !looks.is_asleep);
  thread.asleep = looks.is_asleep;
  thread.place.wait = {};
  if (looks.is_asleep && reads_waits_) {
    static const std::vector<Gil> kNone;
    thread.place.wait = wait_of(pid_, memory_, task, python_ != nullptr ? python_->gils : kNone);
    const bool same = frames_before == thread.place.frames && wait_before == thread.place.wait.kind;
    looks.same_place = looks.was_asleep && (same || looks.scheduled == 0);
    thread.native_missed = false;
    read_native_wait(thread);
  }
  if (const std::int64_t blocked = unseen(); blocked > 0) give_unseen(thread, blocked);
  if (looks.is_asleep) {
    thread.slept = thread.ledger.left().blocked;
    look_later(thread, now);
    return;
  }
  thread.slept = 0;
  if (!thread.event && thread.running.empty()) {
    give(thread, thread.place, now, thread.ledger.take_running(), nullptr);
    return;
  }
  if (keeps_looks(thread)) thread.running.emplace_back(now, thread.place);
  give_running(thread, now);
}

/// By the kernel's record of when it was taken from its processor and given one again.
std::optional<BlockedParts> ProcessSampler::blocked_parts(Thread& thread, const Between& looks,
                                                          std::int64_t now) {
  if (!thread.switch_event) return std::nullopt;
  read_switches(thread);
  const auto later =
      std::ranges::find_if(thread.switches, [now](const Switch& each) { return each.time > now; });
  const std::optional<BlockedParts> parts =
      divide_blocked(looks, std::span(thread.switches.begin(), later), now);
  thread.switches.erase(thread.switches.begin(), later);
  thread.switches_missing = false;
  if (thread.switches.size() > kMostSwitches) thread.switches.clear();
  return parts;
}

/// The record costs the thread some 1 µs per switch: one that is switched too often goes without.
void ProcessSampler::watch_switches(Thread& thread, std::int64_t now) {
  // Until it is looked at, what it was scheduled before it was found is not counted yet.
  const std::int64_t count = std::max(thread.scheduled, thread.scheduled_when_found);
  const std::int64_t before = std::exchange(thread.scheduled_when_listed, count);
  const std::int64_t since = std::exchange(thread.listed_at, now);
  if (thread.polled) return;
  if (before >= 0 && (count - before) * kMostPerSwitch > now - since) {
    drop_switches(thread);
    return;
  }
  // One that has hardly begun may end at once.
  if (thread.switch_event || before < 0) return;
  if (std::optional<native::SwitchEvent> event = options_.watch->open_switches(thread.id))
    thread.switch_event.emplace(std::move(*event));
  thread.polled = !thread.switch_event;
}

void ProcessSampler::watch_threads(std::int64_t now) {
  const bool wanted = options_.native && (!options_.without_python || python_ == nullptr);
  if (options_.native && !wanted && !std::exchange(left_out_, true))
    ++options_.watch->counts().left_out;
  for (auto& [id, thread] : threads_) {
    if (!wanted) drop_event(thread);
    if (!wanted || thread.event || thread.refused) continue;
    if (std::optional<native::PerfEvent> event = options_.watch->open(pid_, id))
      thread.event.emplace(std::move(*event));
    thread.refused = !thread.event;
  }
  for (auto& [id, thread] : threads_) watch_switches(thread, now);
}

/// From now on looks alone tell when it slept.
void ProcessSampler::drop_switches(Thread& thread) {
  thread.polled = true;
  if (thread.switch_event) options_.watch->release_switches();
  thread.switch_event.reset();
  thread.switch_state.reset();
  thread.last_switch.reset();
  thread.switches.clear();
  thread.tells_children = false;
  thread.tells_name = false;
  thread.next = 0;
  tells_ = false;
}

void ProcessSampler::unwatch(Thread& thread) {
  if (thread.switch_event) {
    // What it has begun outlives it.
    read_switches(thread);
    options_.watch->release_switches();
  }
  thread.switch_event.reset();
  if (thread.event) options_.watch->release(*thread.event);
  thread.event.reset();
}

void ProcessSampler::drop_event(Thread& thread) {
  if (!thread.event) return;
  options_.watch->release(*thread.event);
  thread.event.reset();
  thread.natives.clear();
  thread.last_native.clear();
}

/// Of one that perf watches, too, where it has Python's functions: perf may be silent.
bool ProcessSampler::keeps_looks(const Thread& thread) const {
  if (thread.running.size() >= kMostRunning) return false;
  return !thread.event || (options_.below_python && thread.reader);
}

/// Whether perf tells where it ran. At perf_event_paranoid 2 it sees no thread in the kernel: one
/// that is there for long ran where the looks have met it.
bool ProcessSampler::is_by_perf(const Thread& thread, bool ends) const {
  if (!thread.event || !thread.natives.empty()) return thread.event.has_value();
  if (!options_.below_python || !thread.reader || thread.running.empty()) return true;
  // What was not unwound ran where the looks have met it, with what was met below that before.
  if (thread.heard && !thread.known.empty()) return false;
  const bool silent =
      !thread.heard && thread.ledger.left().on_cpu >= kSilent * options_.watch->period();
  return !silent && !(ends && thread.last_native.empty());
}

void ProcessSampler::take_native(pid_t id, bool ended, bool unwind) {
  const auto found = threads_.find(id);
  if (found == threads_.end() || !found->second.event) return;
  Thread& thread = found->second;
  if (!unwind) {
    const std::int64_t skipped = thread.event->skip();
    options_.watch->counts().skipped += skipped;
    thread.heard = thread.heard || skipped > 0;
    if (ended) options_.watch->leave(*thread.event);
    return;
  }
  if (code_ == nullptr)
    code_ = std::make_unique<native::ProcessCode>(pid_, memory_, options_.watch->images());
  code_->refresh(now_ns());
  if (python_ != nullptr) python_->codes.look_again();
  thread.event->read([&](const native::PerfSample& sample) {
    thread.heard = true;
    std::vector<FrameLook> mixed = mixed_stack(thread, sample);
    if (mixed.empty() || thread.natives.size() >= kMostNatives) return;
    thread.last_native = mixed;
    const bool whole = thread.reader && thread.sampled.state == StackState::whole;
    if (options_.below_python && whole)
      thread.known.note(
          {.python = thread.sampled.frames, .at = {}, .mixed = mixed, .time = now_ns()});
    thread.natives.push_back(std::move(mixed));
  });
  if (ended) options_.watch->leave(*thread.event);
}

/// The native functions in which a thread waits, that has just been met so. Below Python's
/// functions only where they tell more than what it waits for. What was met at the same place
/// counts again.
void ProcessSampler::read_native_wait(Thread& thread) {
  if (options_.watch == nullptr || !options_.native) return;
  Place& place = thread.place;
  if (!thread.reader) {
    if (python_ != nullptr && !options_.below_python) return;
    if (auto natives = native_wait(thread)) place.natives = std::move(*natives);
    return;
  }
  // Who waits for the GIL waits for Python.
  if (!options_.below_python || place.wait.kind == WaitKind::gil || !thread.blocked_at) return;
  if (place.state != StackState::whole || place.frames.empty()) return;
  const std::int64_t now = now_ns();
  const KnownStacks::Known* const known = thread.known_waits.find(place.frames, *thread.blocked_at);
  if (known != nullptr && now - known->time < kKnownWait) {
    place.natives = known->mixed;
    return;
  }
  std::optional<std::vector<FrameLook>> natives = native_wait(thread);
  if (!natives) return;
  place.natives = std::move(*natives);
  thread.known_waits.note(
      {.python = place.frames, .at = *thread.blocked_at, .mixed = place.natives, .time = now});
}

/// Nothing where they cannot be read, or are of another moment than Python's functions.
std::optional<std::vector<FrameLook>> ProcessSampler::native_wait(Thread& thread) {
  if (options_.may_unwind && !options_.may_unwind()) {
    if (!std::exchange(thread.native_missed, true)) ++options_.watch->counts().skipped;
    return std::nullopt;
  }
  thread.native_missed = false;
  if (code_ == nullptr)
    code_ = std::make_unique<native::ProcessCode>(pid_, memory_, options_.watch->images());
  code_->refresh(now_ns());
  std::string reason;
  native::ThreadReader reader(pid_, memory_, *code_);
  std::optional<native::NativeCalls> found = reader.read_blocked(thread.id, kMostWaitBytes, reason);
  if (found && found->calls.stop == native::Stop::no_code && code_->find_more(now_ns()))
    found = reader.read_blocked(thread.id, kMostWaitBytes, reason);
  if (!found) return std::nullopt;
  const native::CallNames names = native::names_of(found->calls, *code_);
  if (!thread.reader) {
    // A thread of Python's that is not known yet has functions which are not the interpreter's.
    if (python_ != nullptr && names.loops() > 0) return std::nullopt;
    return native::mix(names, {}, {}).frames;
  }
  if (found->switches != thread.scheduled) return std::nullopt;
  if (!native::tells_more(names)) {
    // A library may have been loaded that is not known yet.
    if (found->calls.stop == native::Stop::no_code) return std::nullopt;
    return std::vector<FrameLook>();
  }
  const std::vector<std::size_t> runs = native::evaluator_runs(thread.place.frames);
  native::MixedStack mixed = native::below_python(names, looks_of(thread.place), runs);
  if (mixed.join == native::Join::unmatched) return std::vector<FrameLook>();
  return std::move(mixed.frames);
}

/// Reads Python's stack for a sample of perf, some 0.1 ms after it was taken. False where it may be
/// of another moment. Where it comes later it is the sample's if it was the same before that, too.
bool ProcessSampler::read_for(Thread& thread, std::int64_t time) {
  Place place;
  // Where it was met last stays: it may have slept there.
  std::swap(place, thread.place);
  read_stack(thread, true);
  std::swap(place, thread.place);
  const auto is_same_before = [&](const Place& before) {
    return before.python && before.read <= time && before.state == StackState::whole &&
           before.frames == place.frames;
  };
  const bool same = is_same_before(thread.place) || is_same_before(thread.sampled);
  thread.sampled = std::move(place);
  return same || thread.sampled.read - time < kMostApart;
}

std::vector<FrameLook> ProcessSampler::mixed_stack(Thread& thread,
                                                   const native::PerfSample& sample) {
  native::WatchCounts& counts = options_.watch->counts();
  ++counts.samples;
  const bool below = options_.below_python;
  std::vector<FrameLook> python;
  std::vector<std::size_t> runs;
  if (thread.reader) {
    const bool of_one_moment = read_for(thread, sample.time);
    const bool matches = of_one_moment && thread.sampled.state == StackState::whole;
    if (matches || (below && of_one_moment)) python = looks_of(thread.sampled);
    if (matches) runs = native::evaluator_runs(thread.sampled.frames);
    if (!matches && below) {
      // Where it is of another moment, the time is given to the next one.
      ++counts.unmatched;
      return python;
    }
  }
  native::Calls calls = native::unwind(sample.registers, sample.stack, *code_);
  if (calls.stop == native::Stop::no_code && code_->find_more(now_ns()))
    calls = native::unwind(sample.registers, sample.stack, *code_);
  const native::CallNames names = native::names_of(calls, *code_);
  if (!names.whole) ++counts.cut;
  if (names.whole && calls.by_code) ++counts.by_code;
  // Where no native function is known, Python's are all that is.
  if (names.looks.empty() && !python.empty()) return python;
  native::MixedStack mixed =
      below ? native::below_python(names, python, runs) : native::mix(names, python, runs);
  if (mixed.join == native::Join::joined) ++counts.joined;
  if (mixed.join == native::Join::unmatched) ++counts.unmatched;
  return std::move(mixed.frames);
}

/// What was met last where Python's stack was the same, to the instruction; empty: nothing.
std::vector<FrameLook> ProcessSampler::known_at(const Thread& thread, const Place& place) {
  if (place.state != StackState::whole) return {};
  const KnownStacks::Known* const known = thread.known.find(place.frames);
  return known == nullptr ? std::vector<FrameLook>() : known->mixed;
}

/// What is known of Python's functions, the innermost first.
std::vector<FrameLook> ProcessSampler::looks_of(const Place& place) const {
  std::vector<FrameLook> looks;
  if (place.state != StackState::whole) {
    const bool nothing = place.state == StackState::unread;
    looks.push_back({.function = std::string(nothing ? kNotRead : kInnerNotRead)});
  }
  for (const Frame& frame : place.frames) looks.push_back(look_of(frame, python_->runtime.layout));
  return looks;
}

/// Perf comes by each time that a thread has run for so long. What it ran until then is of where it
/// was met, and what it ran since is of where it will be met. Without perf each place where it was
/// met running gets as much.
void ProcessSampler::give_running(Thread& thread, std::int64_t time, bool ends) {
  const bool by_perf = is_by_perf(thread, ends);
  const std::size_t parts = by_perf ? thread.natives.size() : thread.running.size();
  if (parts == 0) return;
  Spent left = thread.ledger.take_running();
  for (std::size_t i = 0; i < parts; ++i) {
    const Spent part = take_part(left, parts - i);
    if (by_perf)
      give(thread, thread.place, time, part, nullptr, thread.natives[i]);
    else
      give(thread, thread.running[i].second, thread.running[i].first, part, nullptr,
           known_at(thread, thread.running[i].second));
  }
  thread.natives.clear();
  thread.running.clear();
  thread.heard = false;
}

/// Whether Python's stack of a thread that runs was read since the look before, and perf tells
/// where it ran.
bool ProcessSampler::is_read_for_perf(const Thread& thread, const Between& looks) {
  return !looks.is_asleep && thread.reader && !thread.natives.empty() &&
         thread.sampled.read > looks.since && thread.sampled.state == StackState::whole;
}

/// Where it is now is not looked up.
void ProcessSampler::forget_place(Thread& thread) {
  thread.place = {};
  thread.place.python = thread.reader.has_value();
  if (thread.place.python) thread.place.state = StackState::unread;
}

void ProcessSampler::read_stack(Thread& thread, bool running) {
  Place& place = thread.place;
  place.frames.clear();
  place.natives.clear();
  place.state = StackState::whole;
  place.python = thread.reader.has_value();
  if (!thread.reader) return;
  const Stack* resting = running ? nullptr : thread.reader->read_resting();
  if (resting != nullptr && has_run(thread)) resting = nullptr;
  const bool near = running && thread.alongside;
  if (near) thread.alongside->begin();
  const Stack& stack = resting != nullptr ? *resting : thread.reader->read();
  if (near) thread.alongside->end();
  place.frames = stack.frames;
  place.state = stack.state;
  place.read = now_ns();
  if (python_->trust == Python::Trust::doubted) {
    place.frames.clear();
    place.state = StackState::unread;
  }
  (place.state == StackState::whole       ? counts_.whole
   : place.state == StackState::shortened ? counts_.shortened
                                          : counts_.unread) += 1;
  // Its Python may be another one by now, of the same program.
  thread.in_vain = stack.state == StackState::unread ? thread.in_vain + 1 : 0;
  if (thread.in_vain < kMostInVain) return;
  thread.in_vain = 0;
  list_python_ = std::max(list_python_, 1);
}

void ProcessSampler::give(const Thread& thread, const Place& place, std::int64_t time,
                          const Spent& spent, const Wait* wait,
                          const std::vector<FrameLook>& native) {
  if (!spent.any()) return;
  const std::vector<FrameLook>& mixed = native.empty() ? place.natives : native;
  ready_ += spent.on_cpu + spent.queued;
  sink_.take(
      {.time = time,
       .process = pid_,
       .thread = thread.id,
       .name = thread.name,
       .python = place.python,
       .state = mixed.empty() ? place.state : StackState::whole,
       .frames = place.frames,
       .layout = python_ != nullptr && !place.frames.empty() ? &python_->runtime.layout : nullptr,
       .mixed = mixed,
       .spent = spent,
       .wait = wait});
}

/// Of what it was blocked where nobody has seen it, neither place nor cause are known.
void ProcessSampler::give_unseen(Thread& thread, std::int64_t blocked) {
  Place place;
  place.python = thread.reader.has_value();
  place.state = place.python ? StackState::unread : StackState::whole;
  give(thread, place, thread.last, thread.ledger.take_blocked(blocked), nullptr);
}

/// What it ran although it was never met running is not known to be of any stack.
void ProcessSampler::give_rest(Thread& thread) {
  if (thread.asleep) {
    give(thread, thread.place, thread.last,
         thread.ledger.take_blocked(std::numeric_limits<std::int64_t>::max()), &thread.place.wait);
  }
  give_running(thread, thread.last, true);
  if (!thread.last_native.empty()) {
    give(thread, thread.place, thread.last, thread.ledger.take_running(), nullptr,
         thread.last_native);
  }
  Spent rest = thread.ledger.take_running();
  rest.blocked = thread.ledger.take_blocked(std::numeric_limits<std::int64_t>::max()).blocked;
  // One that runs to its end is most likely still where it was met.
  if (thread.asleep || thread.place.frames.empty()) {
    thread.place.frames.clear();
    thread.place.natives.clear();
    if (thread.reader) thread.place.state = StackState::unread;
  }
  give(thread, thread.place, thread.last, rest, nullptr);
}

}  // namespace fathom::sample
