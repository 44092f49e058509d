// Puts ranks that do the same together.
#include "sample/rank_groups.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace fathom::sample {
namespace {

using ByPid = std::unordered_map<pid_t, const ProcessLook*>;

/// The outermost of those above it that have its rank; itself where none has.
const ProcessLook* outermost_of(const ProcessLook& process, const ByPid& by_pid) {
  const ProcessLook* outermost = &process;
  pid_t parent = process.parent;
  // Numbers may be used again meanwhile: no walk without end.
  for (std::size_t steps = 0; steps < by_pid.size(); ++steps) {
    const auto above = by_pid.find(parent);
    if (above == by_pid.end()) break;
    if (above->second->rank == process.rank) outermost = above->second;
    parent = above->second->parent;
  }
  return outermost;
}

/// A rank's own children have its number, as has a shell that starts it: of those one below the
/// other the outermost with Python counts, else the outermost.
std::vector<const ProcessLook*> ranks_of(std::span<const ProcessLook> processes) {
  ByPid by_pid;
  for (const ProcessLook& process : processes) by_pid.emplace(process.pid, &process);
  std::unordered_map<const ProcessLook*, const ProcessLook*> chosen;  // by the outermost
  std::vector<const ProcessLook*> outermost;
  for (const ProcessLook& process : processes) {
    if (!process.rank) continue;
    const ProcessLook* const top = outermost_of(process, by_pid);
    const auto [known, fresh] = chosen.try_emplace(top, &process);
    if (fresh) outermost.push_back(top);
    // Parents come before children.
    if (known->second->python.empty() && !process.python.empty()) known->second = &process;
  }
  std::vector<const ProcessLook*> ranks;
  ranks.reserve(outermost.size());
  for (const ProcessLook* const top : outermost) ranks.push_back(chosen.at(top));
  std::ranges::stable_sort(ranks, {}, [](const ProcessLook* rank) { return *rank->rank; });
  return ranks;
}

const ThreadLook* main_thread(const ProcessLook& process) {
  const auto found = std::ranges::find(process.threads, process.pid,
                                       [](const ThreadLook& thread) { return thread.task.id; });
  return found == process.threads.end() ? nullptr : &*found;
}

std::optional<FrameLook> place_of(const ThreadLook& thread) {
  if (thread.python) {
    // The innermost of a shortened stack is some function further out.
    if (thread.stack != StackState::whole || thread.frames.empty()) return std::nullopt;
    return thread.frames.front();
  }
  if (!thread.native || thread.native->stack.frames.empty()) return std::nullopt;
  return thread.native->stack.frames.front();
}

/// A rank in one of these goes on for nobody. Others come and go within a step.
bool is_stuck(char state) {
  return state == 'T' || state == 't' || state == 'Z' || state == 'X' || state == 'D';
}

void mark_odd(std::vector<RankGroup>& groups) {
  const auto same_place = [](const RankGroup& a, const RankGroup& b) {
    return a.place && b.place && *a.place == *b.place;
  };
  std::size_t all = 0;
  for (const RankGroup& group : groups) all += group.ranks.size();
  const RankGroup* most = nullptr;
  std::size_t there = 0;
  std::size_t stuck = 0;
  for (const RankGroup& group : groups) {
    std::size_t ranks = 0;
    for (const RankGroup& other : groups)
      if (&other == &group || same_place(other, group)) ranks += other.ranks.size();
    if (is_stuck(group.state)) stuck += group.ranks.size();
    if (group.place && ranks > there) {
      most = &group;
      there = ranks;
    }
  }
  const bool moves = 2 * stuck < all && all - stuck >= 2;
  const bool together = most != nullptr && there >= 2 && 2 * there > all;
  for (RankGroup& group : groups) {
    // What is not known is at no other line.
    const bool elsewhere = together && group.place && !same_place(group, *most);
    group.odd = elsewhere || (moves && is_stuck(group.state));
  }
}

}  // namespace

std::vector<RankGroup> rank_groups(std::span<const ProcessLook> processes) {
  const std::vector<const ProcessLook*> ranks = ranks_of(processes);
  if (ranks.size() < 2) return {};
  using Key = std::tuple<bool, std::string, std::string, std::int32_t, char, WaitKind, std::string>;
  std::map<Key, std::size_t> known;
  std::vector<RankGroup> groups;
  for (const ProcessLook* const rank : ranks) {
    RankGroup one;
    if (const ThreadLook* const thread = main_thread(*rank)) {
      one.place = place_of(*thread);
      one.state = thread->task.state;
      one.wait = thread->wait;
      one.wait.objects.clear();
    } else {
      one.state = 'Z';
    }
    const FrameLook place = one.place.value_or(FrameLook{});
    const Key key{
        one.place.has_value(), place.function, place.file, place.line.value_or(-1), one.state,
        one.wait.kind,         one.wait.call};
    const auto [group, fresh] = known.try_emplace(key, groups.size());
    if (fresh) groups.push_back(std::move(one));
    groups[group->second].ranks.push_back(*rank->rank);
    groups[group->second].pids.push_back(rank->pid);
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const RankGroup& group) { return group.ranks.size(); });
  mark_odd(groups);
  return groups;
}

}  // namespace fathom::sample
