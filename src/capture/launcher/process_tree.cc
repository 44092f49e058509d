// Follows the processes of a run and their exits.
#include "capture/launcher/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/launcher/redact.h"

namespace fathom::capture {
namespace {

/// A process that is younger may still be about to exec.
constexpr std::int64_t kYoung = 1'000'000'000;
/// Descriptors are few: a tree of thousands of processes is looked at by scanning alone.
constexpr std::size_t kMostDescriptors = 256;
constexpr std::int64_t kBlock = 512;  ///< Of ru_inblock, ru_oublock.

std::int64_t ns_of(const timeval& time) {
  return (time.tv_sec * std::int64_t{1'000'000} + time.tv_usec) * 1000;
}

int open_process(pid_t pid) {
  // glibc before 2.36 has no name for it.
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  if (text.size() > 200) text = text.substr(0, 199) + "…";
  return text;
}

}  // namespace

ProcessTree::ProcessTree(const Launched& launched, const std::vector<std::string>& command,
                         wire::Writer* writer)
    : fork_memory_(launched.fork_memory), writer_(writer) {
  add(launched.pid, getpid(), launched.started);
  Process& main = processes_.front();
  main.command = redact_command(command);
  main.role = "main";
  const char* rank = std::getenv("RANK");
  if (rank != nullptr) main.rank = std::atoi(rank);
}

ProcessTree::~ProcessTree() {
  for (const auto& [pid, live] : live_) {
    if (live.descriptor >= 0) ::close(live.descriptor);
  }
}

void ProcessTree::add(pid_t pid, pid_t parent, std::int64_t started) {
  Live live{.index = processes_.size()};
  // wait4 reports the end of our own children.
  if (parent != getpid() && live_.size() < kMostDescriptors) live.descriptor = open_process(pid);
  processes_.push_back({.pid = pid, .parent = parent, .role = "child", .started = started});
  live_.emplace(pid, live);
}

void ProcessTree::describe(Process& process) {
  const bool main = process.role == "main";
  std::vector<std::string> command = read_command(process.pid);
  if (!command.empty()) process.command = redact_command(command);
  if (main) return;
  if (const auto rank = read_variable(process.pid, "RANK")) process.rank = std::atoi(rank->c_str());
  const bool parent_has_it = std::ranges::any_of(processes_, [&](const Process& other) {
    return other.pid == process.parent && other.rank == process.rank;
  });
  if (process.name == "pt_data_worker") {
    process.role = "loader-worker";
  } else {
    process.role = process.rank >= 0 && !parent_has_it ? "rank" : "child";
  }
}

void ProcessTree::announce(const Process& process) {
  if (writer_ == nullptr) return;
  const std::string name = process.command.empty() ? process.name : joined(process.command);
  writer_->process(process.started, process.pid, process.parent, process.rank, name, process.role);
}

void ProcessTree::update(pid_t pid, Live& live) {
  Process& process = processes_[live.index];
  const std::optional<ProcStat> stat = read_stat(pid);
  if (!stat) return;
  const std::int64_t now = wire::monotonic_ns();
  process.user = std::max(process.user, stat->user);
  process.system = std::max(process.system, stat->system);
  if (stat->state == 'Z') {
    process.status = stat->status;
    // Our own child's end is taken by wait4, which knows more.
    if (stat->parent != getpid()) end(pid, now);
    return;
  }
  process.peak = std::max(process.peak, read_peak(pid));
  const ProcIo io = read_io(pid);
  process.read = std::max(process.read, io.read);
  process.written = std::max(process.written, io.written);
  const bool renamed = process.name != stat->name || process.command.empty();
  process.name = stat->name;
  const bool young = now - process.started < kYoung;
  if (renamed || young) describe(process);
  if (live.announced ? renamed : !young) {
    announce(process);
    live.announced = true;
  }
}

void ProcessTree::scan() {
  const std::int64_t newest = newest_task();
  if (newest < 0 || newest != newest_) find_new();
  newest_ = newest;
  std::vector<pid_t> known;
  for (const auto& [pid, live] : live_) known.push_back(pid);
  for (const pid_t pid : known) {
    if (read_stat(pid)) {
      update(pid, live_.at(pid));
    } else if (processes_[live_.at(pid).index].parent != getpid()) {
      // The end of our own children is known by wait4 alone: /proc may be missing.
      end(pid, wire::monotonic_ns());
    }
  }
}

void ProcessTree::find_new() {
  const std::vector<pid_t> pids = all_pids();
  std::unordered_map<pid_t, bool> foreign;
  std::vector<std::pair<pid_t, ProcStat>> unknown;
  for (const pid_t pid : pids) {
    if (live_.contains(pid)) continue;
    if (foreign_.contains(pid)) {
      foreign.emplace(pid, true);
      continue;
    }
    std::optional<ProcStat> stat = read_stat(pid);
    if (stat && !is_known_zombie(pid, *stat)) unknown.emplace_back(pid, std::move(*stat));
  }
  // A child's number may be below its parent's once numbers have wrapped: until nothing is new.
  const pid_t self = getpid();
  for (bool found = true; found;) {
    found = false;
    std::erase_if(unknown, [&](const auto& entry) {
      const auto& [pid, stat] = entry;
      if (stat.parent != self && !live_.contains(stat.parent)) return false;
      add(pid, stat.parent, stat.started);
      processes_.back().name = stat.name;
      return found = true;
    });
  }
  for (const auto& [pid, stat] : unknown) {
    if (pid != self) foreign.emplace(pid, true);
  }
  foreign_ = std::move(foreign);
}

bool ProcessTree::is_known_zombie(pid_t pid, const ProcStat& stat) const {
  constexpr std::int64_t kSame = 30'000'000;  // Start times come in ticks.
  const auto at = ended_.find(pid);
  return stat.state == 'Z' && at != ended_.end() && std::abs(at->second - stat.started) < kSame;
}

/// An orphan that has ended before it was seen.
void ProcessTree::add_ended(pid_t pid) {
  const std::optional<ProcStat> stat = read_stat(pid);
  add(pid, getpid(), stat ? stat->started : wire::monotonic_ns());
  if (stat) processes_.back().name = stat->name;
}

void ProcessTree::reap() {
  while (true) {
    siginfo_t ended{};
    const int found = waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0 || ended.si_pid == 0) return;
    // While it is a zombie, /proc still says when it began.
    if (!live_.contains(ended.si_pid)) add_ended(ended.si_pid);
    int status = 0;
    rusage usage{};
    const pid_t pid = wait4(ended.si_pid, &status, WNOHANG, &usage);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    Process& process = processes_[live_.at(pid).index];
    process.status = status;
    process.user = ns_of(usage.ru_utime);
    process.system = ns_of(usage.ru_stime);
    // The kernel counts the memory that a child was forked with as its own until it is another
    // program. What is no more than ours is no peak of its own: that is the one seen in /proc, or
    // it is not known.
    const std::int64_t peak = usage.ru_maxrss * 1024;
    if (peak > fork_memory_ || process.parent != getpid()) process.peak = peak;
    process.read = usage.ru_inblock * kBlock;
    process.written = usage.ru_oublock * kBlock;
    process.exact = true;
    end(pid, wire::monotonic_ns());
  }
}

void ProcessTree::end(pid_t pid, std::int64_t now) {
  const auto at = live_.find(pid);
  if (at == live_.end()) return;
  Process& process = processes_[at->second.index];
  process.ended = now;
  ended_[pid] = process.started;
  if (!at->second.announced) announce(process);
  if (at->second.descriptor >= 0) ::close(at->second.descriptor);
  live_.erase(at);
  if (writer_ == nullptr) return;
  writer_->exit({.time = now,
                 .pid = pid,
                 .status = process.status.value_or(-1),
                 .user = process.user,
                 .system = process.system,
                 .peak = process.peak,
                 .wall = now - process.started,
                 .read = process.read,
                 .written = process.written});
}

void ProcessTree::look_at_ended(const std::vector<pollfd>& descriptors) {
  for (const pollfd& ready : descriptors) {
    if (ready.revents == 0) continue;
    const auto at = std::ranges::find_if(
        live_, [&](const auto& entry) { return entry.second.descriptor == ready.fd; });
    if (at == live_.end()) continue;
    const pid_t pid = at->first;
    update(pid, at->second);
    const auto still = live_.find(pid);
    if (still == live_.end()) continue;
    // It is our child now, or it has ended already: the descriptor has nothing more to report.
    ::close(still->second.descriptor);
    still->second.descriptor = -1;
    if (!read_stat(pid)) end(pid, wire::monotonic_ns());
  }
}

std::vector<pollfd> ProcessTree::descriptors() const {
  std::vector<pollfd> descriptors;
  for (const auto& [pid, live] : live_) {
    if (live.descriptor >= 0)
      descriptors.push_back({.fd = live.descriptor, .events = POLLIN, .revents = 0});
  }
  return descriptors;
}

std::vector<pid_t> ProcessTree::running() const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) {
    if (process.running()) pids.push_back(process.pid);
  }
  return pids;
}

}  // namespace fathom::capture
