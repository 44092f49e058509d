// Finds the processes that belong to the captured program.
#include "monitor/process_tree.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <dirent.h>

#include "monitor/proc_text.h"

namespace fathom::monitor {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::optional<ProcessStat> stat_of(const Roots& roots, std::int32_t pid) {
  const auto text = read_file(roots.proc + "/" + std::to_string(pid) + "/stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

bool is_dead(const ProcessStat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

}  // namespace

ProcessTree::ProcessTree(Roots roots, Options options)
    : roots_(std::move(roots)), options_(std::move(options)) {}

std::vector<std::int32_t> ProcessTree::list() const {
  std::vector<std::int32_t> pids;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(roots_.proc.c_str()));
  if (!folder) return pids;
  // Each call has a folder of its own, so readdir is safe among threads.
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name(&entry->d_name[0]);
    const auto pid =
        name.front() >= '1' && name.front() <= '9' ? whole_integer(name) : std::nullopt;
    if (pid && *pid <= INT32_MAX) pids.push_back(static_cast<std::int32_t>(*pid));
  }
  std::ranges::sort(pids);
  return pids;
}

bool ProcessTree::is_marked(std::int32_t pid) const {
  if (options_.session.empty()) return false;
  const auto environment = read_file(roots_.proc + "/" + std::to_string(pid) + "/environ");
  if (!environment) return false;
  const std::string mark = "FATHOM_SESSION=" + options_.session + '\0';
  // At the start, or behind another variable's end.
  return environment->starts_with(mark) || environment->find('\0' + mark) != std::string::npos;
}

void ProcessTree::look_at(const std::vector<std::int32_t>& fresh, Changes& changes) {
  struct Found {
    ProcessStat stat;
    bool marked = false;
  };
  std::vector<Found> found;
  for (const std::int32_t pid : fresh) {
    auto stat = stat_of(roots_, pid);
    if (!stat || stat->pid != pid) continue;
    found.push_back({.stat = std::move(*stat), .marked = is_marked(pid)});
  }
  const auto belongs = [&](const Found& candidate) {
    const ProcessStat& stat = candidate.stat;
    if (stat.pid == options_.launcher) return false;
    if (stat.pid == options_.root || candidate.marked) return true;
    if (members_.contains(stat.parent)) return true;
    return options_.launcher != 0 && stat.parent == options_.launcher;
  };
  // A child may stand before its parent (pids wrap around): look until nobody joins any more.
  for (bool any = true; any;) {
    any = false;
    for (Found& candidate : found) {
      if (candidate.stat.pid == 0 || !belongs(candidate)) continue;
      TreeProcess process{.pid = candidate.stat.pid,
                          .parent = candidate.stat.parent,
                          .start_ticks = candidate.stat.start_ticks,
                          .name = candidate.stat.name,
                          .older = first_};
      candidate.stat.pid = 0;
      if (is_dead(candidate.stat)) continue;
      any = true;
      changes.joined.push_back(process);
      members_.emplace(process.pid, std::move(process));
    }
  }
  for (const Found& candidate : found) {
    if (candidate.stat.pid != 0) strangers_.insert(candidate.stat.pid);
  }
}

void ProcessTree::drop_gone(const std::vector<std::int32_t>& alive, Changes& changes) {
  std::erase_if(strangers_,
                [&](std::int32_t pid) { return !std::ranges::binary_search(alive, pid); });
  for (auto member = members_.begin(); member != members_.end();) {
    const bool gone = !std::ranges::binary_search(alive, member->first);
    if (gone) changes.left.push_back(member->second);
    member = gone ? members_.erase(member) : std::next(member);
  }
}

ProcessTree::Changes ProcessTree::update() {
  const std::scoped_lock lock(mutex_);
  Changes changes;
  const auto load = parse_load(read_file(roots_.proc + "/loadavg").value_or(""));
  if (!first_ && load && load->last_pid == last_pid_) {
    // Nobody was born; who died is seen by whoever reads its files, and here at the next birth.
    return changes;
  }
  if (load) last_pid_ = load->last_pid;
  const std::vector<std::int32_t> alive = list();
  drop_gone(alive, changes);
  std::vector<std::int32_t> fresh;
  for (const std::int32_t pid : alive) {
    if (!members_.contains(pid) && !strangers_.contains(pid)) fresh.push_back(pid);
  }
  look_at(fresh, changes);
  first_ = false;
  return changes;
}

std::vector<TreeProcess> ProcessTree::processes() const {
  const std::scoped_lock lock(mutex_);
  std::vector<TreeProcess> all;
  for (const auto& [pid, process] : members_) all.push_back(process);
  return all;
}

bool ProcessTree::contains(std::int32_t pid) const {
  const std::scoped_lock lock(mutex_);
  return members_.contains(pid);
}

}  // namespace fathom::monitor
