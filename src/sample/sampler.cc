// Looks at the threads of a process tree in regular steps.
#include "sample/sampler.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "capture/system/proc.h"
#include "sample/process_look.h"

namespace fathom::sample {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// How often all processes of the machine are looked through for new ones of the tree, and how
/// often where the kernel lists children: then only some of a thread that has ended are found so.
constexpr std::int64_t kTreeEvery = kNsPerSecond / 20;
constexpr std::int64_t kTreeSeldom = kNsPerSecond;
constexpr std::int64_t kStopEvery = kNsPerSecond / 20;
/// How often it is looked whether there are new tasks: in each look, but for very many.
constexpr std::int64_t kNewestEvery = kNsPerSecond / 150;
/// Looking for processes costs at most this part of the time, and where the kernel lists children
/// this.
constexpr std::int64_t kTreeShare = 100;
/// This where the kernel tells what the threads start.
constexpr std::int64_t kToldTreeShare = 1000;
constexpr std::int64_t kChildrenShare = 200;
/// A thread that has run is looked at within this.
constexpr std::int64_t kSeenRunning = kNsPerSecond / 20;
/// How much of what the looks before cost still counts.
constexpr std::int64_t kRemembered = 16;
constexpr std::size_t kMostReasons = 20;
/// Tables of programs and libraries are read once.
constexpr std::int64_t kOnce = kNsPerSecond / 20;
/// Half a tick of the kernel's clock.
constexpr std::int64_t kStartDiffers = kNsPerSecond / 200;
constexpr std::size_t kMostRan = 100'000;
/// A process that ran for a smaller part of the time does not count for what all may use.
constexpr std::int64_t kLeastPart = 20;

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}
std::int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
std::int64_t cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

double Sampler::most_cost() const {
  std::size_t threads = 0;
  for (const auto& [pid, process] : processes_) threads += process->threads();
  const double many = std::max(options_.most_cost, options_.most_cost_of_many);
  const double part = std::min(1.0, static_cast<double>(threads) / kManyThreads);
  return options_.most_cost + part * (many - options_.most_cost);
}

/// What has been used so far may not exceed the limit, but for what reading files costs once.
bool Sampler::within_limit() const {
  return options_.most_cost <= 0 || is_within(cpu_ns() - cost_before_);
}

bool Sampler::is_within(std::int64_t cost) const {
  const auto most = most_cost() * static_cast<double>(now_ns() - begin_);
  return options_.most_cost <= 0 || cost <= static_cast<std::int64_t>(most) + kOnce;
}

/// False where it is to stop, which is looked at now and then.
bool Sampler::wait_until(std::int64_t when, const std::function<bool()>& stop) {
  while (true) {
    const std::int64_t next = std::min(when, now_ns() + kStopEvery);
    const bool native = options_.native != Options::Native::none;
    // Where there is no time for them, stacks of perf are only passed over at the end.
    const bool awaited = native && within_limit();
    if (!awaited) {
      const timespec until{.tv_sec = next / kNsPerSecond, .tv_nsec = next % kNsPerSecond};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    }
    if (native) {
      watch_.wait(next, [this](pid_t process, pid_t thread, bool ended) {
        const auto found = processes_.find(process);
        if (found != processes_.end()) found->second->take_native(thread, ended, within_limit());
      });
    }
    if (stop()) return false;
    if (now_ns() >= when) return true;
  }
}

Sampler::Sampler(pid_t root, const Options& options, SampleSink& sink)
    : root_(root), options_(options), sink_(sink), watch_(options.period), load_("/proc/loadavg") {}
Sampler::~Sampler() = default;

Result<std::unique_ptr<Sampler>> Sampler::open(pid_t root, const Options& options,
                                               SampleSink& sink) {
  const std::optional<capture::ProcStat> stat = capture::read_stat(root);
  if (!options.fresh && (!stat || stat->state != 'Z')) {
    Result<PythonOf> python = python_of(root, ProcessMemory(root));
    if (!python) return std::move(python).error();
  }
  std::unique_ptr<Sampler> sampler(new Sampler(root, options, sink));
  sampler->find_processes();
  return sampler;
}

void Sampler::find_processes() {
  const bool alone = options_.alone || (state_.rounds == 0 && options_.fresh);
  const std::vector<pid_t> tree = alone ? std::vector{root_} : process_tree(root_);
  for (const pid_t pid : tree) add(pid);
}

/// Sooner than by looking through all processes of the machine.
void Sampler::find_children(std::int64_t now) {
  const std::int64_t before = cpu_ns();
  std::vector<pid_t> parents;
  for (const auto& [pid, process] : processes_) parents.push_back(pid);
  for (const auto& [pid, started] : left_out_) {
    // Its number may be another one's by now.
    const std::optional<capture::ProcStat> stat = capture::read_stat(pid);
    if (stat && is_left_out(pid, stat->started)) parents.push_back(pid);
  }
  for (std::size_t at = 0; at < parents.size(); ++at) {
    const auto known = processes_.find(parents[at]);
    const std::vector<pid_t> children =
        known == processes_.end() ? children_of(parents[at]) : known->second->new_children();
    for (const pid_t child : children) {
      if (processes_.contains(child)) continue;
      add(child);
      if (processes_.contains(child)) parents.push_back(child);
    }
  }
  next_children_ = now + kChildrenShare * (cpu_ns() - before);
}

void Sampler::add(pid_t pid) {
  if (processes_.contains(pid)) return;
  const std::optional<capture::ProcStat> stat = capture::read_stat(pid);
  if (!stat || stat->state == 'Z' || is_left_out(pid, stat->started)) return;
  const bool fresh = state_.rounds > 0 || options_.fresh;
  processes_.emplace(pid,
                     std::make_unique<ProcessSampler>(
                         pid,
                         ProcessSampler::Options{
                             .fresh = fresh,
                             .without_torch = options_.without_torch,
                             .watch = &watch_,
                             .native = options_.native != Options::Native::none,
                             .below_python = options_.native == Options::Native::below_python,
                             .without_python = options_.native == Options::Native::without_python,
                             .may_unwind = [this] { return within_limit(); }},
                         files_, sink_));
}

/// Where some task of the machine is new. Of the looking it is the processor time that counts: on a
/// busy machine it takes long, but then the more may be missed. Nobody asks where the kernel tells.
void Sampler::look_for_processes() {
  if (options_.alone) return;
  const std::int64_t begin = now_ns();
  const bool told = left_out_.empty() && std::ranges::all_of(processes_, [](const auto& each) {
                      return each.second->tells_children();
                    });
  const bool begun = lists_children() && std::ranges::any_of(processes_, [](const auto& each) {
                       return each.second->has_children();
                     });
  if (begun && begin >= next_children_) find_children(begin);
  if (told ? begin < next_tree_
           : begin < next_newest_ || begin < std::min(next_tree_, next_children_))
    return;
  next_newest_ = begin + kNewestEvery;
  const std::int64_t newest = newest_task();
  if (!told && lists_children() && begin >= next_children_) {
    // Whose child it is runs, or has run since it was looked at last.
    if (newest < 0 || newest != newest_child_) children_until_ = begin + kSeenRunning;
    newest_child_ = newest;
  }
  if (begin >= next_children_ && begin <= children_until_) find_children(begin);
  if (begin < next_tree_) return;
  const std::int64_t before = cpu_ns();
  if (newest < 0 || newest != newest_task_) find_processes();
  newest_task_ = newest;
  const std::int64_t least = lists_children() ? kTreeSeldom : kTreeEvery;
  const std::int64_t share = told ? kToldTreeShare : kTreeShare;
  next_tree_ = begin + std::max(least, share * (cpu_ns() - before));
}

/// Its number; -1 where it is not known.
std::int64_t Sampler::newest_task() {
  const std::string_view load = load_.read(buffer_);
  const std::size_t blank = load.rfind(' ');
  std::int64_t newest = -1;
  if (blank != std::string_view::npos)
    std::from_chars(load.data() + blank + 1, load.data() + load.size(), newest);
  return newest;
}

/// When a process started is computed from two clocks, and differs a little each time.
bool Sampler::is_left_out(pid_t pid, std::int64_t started) const {
  const auto at = left_out_.find(pid);
  return at != left_out_.end() && std::abs(at->second - started) < kStartDiffers;
}

void Sampler::end(ProcessSampler& process) {
  process.finish();
  state_.counts += process.counts();
  if (ran_.size() < kMostRan) ran_.emplace_back(process.ready(), process.processors());
  if (!process.reason().empty() && state_.unread.size() < kMostReasons) {
    state_.unread.push_back("process " + std::to_string(process.pid()) + ": " + process.reason());
  }
  if (process.has_torch()) {
    ++state_.with_torch;
    if (const auto stat = capture::read_stat(process.pid()))
      left_out_[process.pid()] = stat->started;
  }
  if (process.has_code()) sink_.forget_code();
}

void Sampler::look(bool all) {
  ++state_.rounds;
  const std::int64_t now = now_ns();
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (at->second->look(now, all)) {
      ++at;
      continue;
    }
    end(*at->second);
    at = processes_.erase(at);
  }
}

void Sampler::run(std::int64_t duration, const std::function<bool()>& stop) {
  const std::int64_t begin = now_ns();
  begin_ = begin;
  cost_before_ = cpu_ns();
  std::int64_t cost_of_look = 0;
  std::int64_t next = begin;
  std::uint64_t chance = static_cast<std::uint64_t>(begin);
  // Processes that are left out may start others.
  while (next - begin < duration && !(processes_.empty() && left_out_.empty())) {
    std::int64_t period = options_.period;
    // What a start costs once is not made up for: a short program would hardly be looked at.
    const bool within = is_within(state_.cost);
    if (!within) {
      const auto least = static_cast<double>(cost_of_look) / most_cost();
      period = std::max(period, static_cast<std::int64_t>(least));
    }
    // A tenth of a step earlier or later: a program that repeats itself is not met at one place.
    chance = hash_mix(chance, static_cast<std::uint64_t>(next));
    const std::int64_t spread = period / 5;
    const std::int64_t when =
        next + static_cast<std::int64_t>(chance % 1024) * spread / 1024 - spread / 2;
    if (!wait_until(when, stop)) break;
    look(within);
    look_for_processes();
    const std::int64_t now = now_ns();
    if (options_.most_cost > 0) {
      // With what was done since the look before.
      const std::int64_t cost = cpu_ns() - cost_before_;
      cost_of_look += (cost - state_.cost - cost_of_look) / kRemembered;
      state_.cost = cost;
    }
    next += period;
    if (now > next + period) {
      const std::int64_t behind = (now - next) / period;
      state_.late += behind;
      next += behind * period;
    }
  }
  state_.cost = cpu_ns() - cost_before_;
}

void Sampler::finish() {
  for (const auto& [pid, process] : processes_) end(*process);
  processes_.clear();
}

std::vector<std::string> Sampler::unread() const {
  std::vector<std::string> reasons;
  for (const auto& [pid, process] : processes_) {
    if (!process->reason().empty()) reasons.push_back(process->reason());
  }
  return reasons;
}

SamplerState Sampler::state() const {
  SamplerState state = state_;
  state.native = watch_.counts();
  std::int64_t all = 0;
  for (const auto& [ready, processors] : ran_) all += ready;
  cpu_set_t used;
  CPU_ZERO(&used);
  for (const auto& [ready, processors] : ran_) {
    if (ready * kLeastPart >= all) CPU_OR(&used, &used, &processors);
  }
  state.processors = CPU_COUNT(&used);
  return state;
}

}  // namespace fathom::sample
