// Looks at the stacks of a process tree in regular steps.
#include "sample/sampler.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/proc_file.h"
#include "capture/system/proc.h"
#include "sample/alongside.h"
#include "sample/schedule.h"
#include "sample/thread_list.h"

namespace fathom::sample {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// How often new processes and threads are looked for, and code objects looked at again.
constexpr std::int64_t kListEvery = kNsPerSecond / 20;
constexpr std::int64_t kTreeEvery = kNsPerSecond / 4;
constexpr std::int64_t kCodeEvery = kNsPerSecond;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

void sleep_until(std::int64_t when) {
  const timespec until{.tv_sec = when / kNsPerSecond, .tv_nsec = when % kNsPerSecond};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

/// A stack as the sampler keeps it: names and lines are looked up at the end.
struct Key {
  std::vector<Frame> frames;
  StackState state = StackState::whole;
  bool python = true;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.state) * 2 + (key.python ? 1 : 0);
    for (const Frame& frame : key.frames) {
      hash = hash_mix(hash, reinterpret_cast<std::uintptr_t>(frame.code));
      hash = hash_mix(hash, static_cast<std::uint64_t>(frame.instruction));
    }
    return hash;
  }
};

struct Weight {
  std::int64_t on_cpu = 0;
  std::int64_t samples = 0;
};

}  // namespace

/// One process: its threads, with what each of them has run so far.
class Sampler::Process {
 public:
  /// `fresh`: it was started while we looked, so all that it has run counts.
  Process(pid_t pid, bool fresh, PythonOf python)
      : pid_(pid),
        memory_(pid),
        runtime_(std::move(python.runtime)),
        reason_(std::move(python.reason)),
        started_(fresh) {
    if (runtime_) codes_.emplace(memory_, runtime_->layout);
    list(now_ns());
  }

  /// False once it has ended.
  bool look(std::int64_t now) {
    if (now >= next_list_) list(now);
    if (codes_ && now >= next_codes_) {
      codes_->look_again();
      next_codes_ = now + kCodeEvery;
    }
    for (auto& [tid, thread] : threads_) look_at_thread(thread);
    return !threads_.empty();
  }

  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// `merged` finds a stack that another process, or another instruction of the line, has had too.
  void add_to(Samples& samples, std::map<std::string, std::size_t>& merged) const {
    samples.counts.whole += counts_.whole;
    samples.counts.shortened += counts_.shortened;
    samples.counts.unread += counts_.unread;
    for (const auto& [key, weight] : weights_) {
      WeighedStack stack{.frames = {}, .state = key.state, .python = key.python};
      for (auto at = key.frames.rbegin(); at != key.frames.rend(); ++at)
        stack.frames.push_back(look_of(*at, runtime_->layout));
      samples.on_cpu += weight.on_cpu;
      const auto [at, fresh] = merged.emplace(text_of(stack), samples.stacks.size());
      if (fresh) samples.stacks.push_back(std::move(stack));
      samples.stacks[at->second].on_cpu += weight.on_cpu;
      samples.stacks[at->second].samples += weight.samples;
    }
  }

 private:
  struct Thread {
    RereadFile schedule;
    std::int64_t on_cpu = -1;
    std::optional<StackReader> reader;
    std::optional<Alongside> alongside;  ///< Where a running thread cannot be read otherwise.
    bool listed = false;
  };

  static std::string text_of(const WeighedStack& stack) {
    std::string text = std::to_string(static_cast<int>(stack.state)) + (stack.python ? "p" : "n");
    for (const FrameLook& frame : stack.frames)
      text += '\0' + frame.function + '\0' + frame.file + '\0' +
              std::to_string(frame.line.value_or(-1));
    return text;
  }

  void list(std::int64_t now) {
    next_list_ = now + kListEvery;
    const std::vector<Task> tasks = read_tasks(pid_);
    std::unordered_map<std::int64_t, pid_t> by_native;
    std::vector<std::int64_t> natives;
    for (auto& [tid, thread] : threads_) thread.listed = false;
    for (const Task& task : tasks) {
      if (task.state == 'Z' || task.state == 'X') continue;
      by_native.emplace(task.native, task.id);
      natives.push_back(task.native);
      auto [at, fresh] = threads_.try_emplace(task.id);
      at->second.listed = true;
      if (!fresh) continue;
      at->second.schedule = RereadFile("/proc/" + std::to_string(pid_) + "/task/" +
                                       std::to_string(task.id) + "/schedstat");
      // Those that were there before us have run without us.
      at->second.on_cpu = started_ ? 0 : task.on_cpu.value_or(0);
    }
    started_ = true;
    std::erase_if(threads_, [](const auto& entry) { return !entry.second.listed; });
    if (!runtime_) return;
    const ThreadList python = read_threads(memory_, *runtime_, natives);
    for (const PythonThread& each : python.threads) {
      const auto found = by_native.find(each.native);
      if (found == by_native.end()) continue;
      Thread& thread = threads_.at(found->second);
      if (thread.reader && thread.reader->thread() == each.address) continue;
      thread.reader.emplace(memory_, runtime_->layout, *codes_, each.address, each.interpreter);
      if (runtime_->layout.on_heap()) thread.alongside.emplace(pid_, found->second);
    }
  }

  void look_at_thread(Thread& thread) {
    const std::optional<Schedule> schedule = parse_schedule(thread.schedule.read(buffer_));
    const std::int64_t ran = schedule ? schedule->on_cpu - thread.on_cpu : 0;
    if (ran <= 0) return;
    thread.on_cpu = schedule->on_cpu;
    key_.frames.clear();
    key_.python = thread.reader.has_value();
    key_.state = StackState::whole;
    if (thread.reader) read_stack(thread);
    Weight& weight = weights_[key_];
    weight.on_cpu += ran;
    ++weight.samples;
  }

  void read_stack(Thread& thread) {
    if (thread.alongside) thread.alongside->begin();
    const Stack& stack = thread.reader->read();
    if (thread.alongside) thread.alongside->end();
    key_.frames = stack.frames;
    key_.state = stack.state;
    (stack.state == StackState::whole       ? counts_.whole
     : stack.state == StackState::shortened ? counts_.shortened
                                            : counts_.unread) += 1;
  }

  pid_t pid_;
  ProcessMemory memory_;
  std::optional<Runtime> runtime_;
  std::optional<CodeTable> codes_;
  std::string reason_;
  std::map<pid_t, Thread> threads_;
  std::unordered_map<Key, Weight, KeyHash> weights_;
  StackCounts counts_;
  Key key_;
  std::string buffer_;
  bool started_;
  std::int64_t next_list_ = 0;
  std::int64_t next_codes_ = 0;
};

Sampler::Sampler(pid_t root, const Options& options) : root_(root), options_(options) {}
Sampler::~Sampler() = default;

Result<std::unique_ptr<Sampler>> Sampler::open(pid_t root, const Options& options) {
  std::unique_ptr<Sampler> sampler(new Sampler(root, options));
  const std::optional<capture::ProcStat> stat = capture::read_stat(root);
  if (!stat || stat->state != 'Z') {
    Result<PythonOf> python = python_of(root, ProcessMemory(root));
    if (!python) return std::move(python).error();
    sampler->add(root, std::move(*python));
  }
  sampler->find_processes();
  return sampler;
}

void Sampler::find_processes() {
  const std::vector<pid_t> tree = options_.alone ? std::vector{root_} : process_tree(root_);
  for (const pid_t pid : tree) {
    const std::optional<capture::ProcStat> stat = capture::read_stat(pid);
    if (!stat || stat->state == 'Z') continue;
    if (processes_.contains(pid)) continue;
    Result<PythonOf> python = python_of(pid, ProcessMemory(pid));
    add(pid,
        python ? std::move(*python) : PythonOf{.runtime = {}, .reason = python.error().message});
  }
}

void Sampler::add(pid_t pid, PythonOf python) {
  processes_.emplace(pid, std::make_unique<Process>(pid, rounds_ > 0, std::move(python)));
}

void Sampler::look() {
  ++rounds_;
  const std::int64_t now = now_ns();
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (at->second->look(now)) {
      ++at;
      continue;
    }
    ended_.push_back(std::move(at->second));
    at = processes_.erase(at);
  }
}

void Sampler::run(std::int64_t duration, bool (*stop)()) {
  const std::int64_t begin = now_ns();
  std::int64_t next = begin;
  std::int64_t next_tree = begin + kTreeEvery;
  std::uint64_t chance = static_cast<std::uint64_t>(begin);
  while (next < begin + duration && !processes_.empty() && !stop()) {
    // A tenth of a step earlier or later: a program that repeats itself is not met at one place.
    chance = hash_mix(chance, static_cast<std::uint64_t>(next));
    const std::int64_t spread = options_.period / 5;
    sleep_until(next + static_cast<std::int64_t>(chance % 1024) * spread / 1024 - spread / 2);
    look();
    const std::int64_t now = now_ns();
    if (processes_.empty()) break;
    if (now >= next_tree && !options_.alone) {
      find_processes();
      next_tree = now + kTreeEvery;
    }
    next += options_.period;
    if (now > next + options_.period) {
      const std::int64_t behind = (now - next) / options_.period;
      late_ += behind;
      next += behind * options_.period;
    }
  }
}

Samples Sampler::samples() const {
  Samples samples;
  samples.rounds = rounds_;
  samples.late = late_;
  std::map<std::string, std::size_t> merged;
  const auto add = [&](const Process& process) {
    process.add_to(samples, merged);
    if (!process.reason().empty())
      samples.unread.push_back("process " + std::to_string(process.pid()) + ": " +
                               process.reason());
  };
  for (const auto& [pid, process] : processes_) add(*process);
  for (const auto& process : ended_) add(*process);
  std::ranges::stable_sort(samples.stacks, std::greater<>(), &WeighedStack::on_cpu);
  return samples;
}

}  // namespace fathom::sample
