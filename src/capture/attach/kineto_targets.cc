// Finds the processes that can be asked for a trace, and what keeps the others from it.
#include "capture/attach/kineto_targets.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "capture/system/files.h"
#include "capture/system/proc.h"

namespace fathom::capture {
namespace {

/// Maps of a large program are larger than what read_small() takes.
bool has_torch(const std::string& folder) {
  std::ifstream maps(folder + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libtorch_cpu.") != std::string::npos) return true;
  }
  return false;
}

/// "NAME=" at the start of one of the variables.
bool has_variable(std::string_view environment, std::string_view start) {
  while (!environment.empty()) {
    if (environment.starts_with(start)) return true;
    const std::size_t end = environment.find('\0');
    if (end == std::string_view::npos) return false;
    environment.remove_prefix(end + 1);
  }
  return false;
}

KinetoTarget describe(pid_t pid, const std::string& root) {
  const std::string folder = root + "/proc/" + std::to_string(pid);
  KinetoTarget target{.pid = pid};
  // One that is empty could be read, too.
  const std::optional<std::string> environment = read_small(folder + "/environ");
  target.readable = environment.has_value();
  target.daemon = has_variable(environment.value_or(""), "KINETO_USE_DAEMON=");
  target.rank = has_variable(environment.value_or(""), "RANK=");
  target.torch = has_torch(folder);
  return target;
}

/// "process 4", "processes 4, 5", and of many the first ones.
std::string listed(const std::vector<KinetoTarget>& targets) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (const KinetoTarget& target : std::span(targets).first(std::min(targets.size(), kMost)))
    text += (text.empty() ? "" : ", ") + std::to_string(target.pid);
  if (targets.size() > kMost) text += " and " + std::to_string(targets.size() - kMost) + " more";
  return (targets.size() == 1 ? "process " : "processes ") + text;
}

}  // namespace

std::vector<KinetoTarget> kineto_targets(const std::vector<pid_t>& pids, const std::string& root) {
  std::multimap<pid_t, pid_t> children;
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : all_pids()) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z') continue;
    children.emplace(stat->parent, pid);
    parents[pid] = stat->parent;
  }
  std::vector<KinetoTarget> targets;
  std::set<pid_t> known;
  std::vector<pid_t> open(pids.rbegin(), pids.rend());
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    if (!known.insert(pid).second) continue;
    targets.push_back(describe(pid, root));
    const pid_t parent = parents.contains(pid) ? parents[pid] : 0;
    targets.back().worker = known.contains(parent) && read_command(parent) == read_command(pid);
    const auto [first, last] = children.equal_range(pid);
    for (auto child = first; child != last; ++child) open.push_back(child->second);
  }
  return targets;
}

std::vector<pid_t> expected_to_ask(const std::vector<KinetoTarget>& targets) {
  const auto asks = [](const KinetoTarget& target) {
    return target.daemon && target.torch && !target.worker;
  };
  const bool ranks = std::ranges::any_of(
      targets, [&](const KinetoTarget& target) { return asks(target) && target.rank; });
  std::vector<pid_t> expected;
  for (const KinetoTarget& target : targets) {
    if (asks(target) && (target.rank || !ranks)) expected.push_back(target.pid);
  }
  return expected;
}

std::vector<std::string> reasons_against(const std::vector<KinetoTarget>& targets) {
  if (!expected_to_ask(targets).empty()) return {};
  std::vector<KinetoTarget> hidden;
  std::vector<KinetoTarget> unset;
  std::vector<KinetoTarget> early;
  for (const KinetoTarget& target : targets) {
    if (!target.readable) {
      hidden.push_back(target);
    } else if (!target.daemon) {
      unset.push_back(target);
    } else if (!target.torch) {
      early.push_back(target);
    }
  }
  if (!early.empty()) {
    return {listed(early) + (early.size() == 1 ? " has" : " have") +
            " not loaded PyTorch yet: " + (early.size() == 1 ? "it" : "they") +
            " can only ask once that is done; waiting for it"};
  }
  std::vector<std::string> reasons;
  if (!hidden.empty()) {
    reasons.push_back("the environment of " + listed(hidden) +
                      " may not be read, so it is not known whether it was started with "
                      "KINETO_USE_DAEMON=1 (run fathom attach as the same user, or as root)");
  }
  if (!unset.empty()) {
    reasons.push_back(
        listed(unset) + (unset.size() == 1 ? " was" : " were") +
        " not started with KINETO_USE_DAEMON=1, without which PyTorch asks nobody: start it "
        "again with KINETO_USE_DAEMON=1 in its environment, or under fathom run");
  }
  return reasons;
}

}  // namespace fathom::capture
