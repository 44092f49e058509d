// Tells ranks of one execution from several executions.
#include "compare/runs.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fathom {

SampleSummary step_summary(const Profile& profile) { return describe(profile.lengths()); }

bool ranked(const std::vector<Profile>& profiles) {
  std::set<std::int64_t> ranks;
  return std::ranges::all_of(profiles, [&ranks](const Profile& profile) {
    return profile.rank != kAbsent && ranks.insert(profile.rank).second;
  });
}

std::vector<const Run*> distinct_runs(std::span<const Run> runs) {
  std::vector<const Run*> out;
  std::set<std::vector<std::uint64_t>> seen;
  for (const Run& run : runs) {
    std::vector<std::uint64_t> content;
    content.reserve(run.size());
    for (const Profile& profile : run) content.push_back(profile.content);
    if (seen.insert(std::move(content)).second) out.push_back(&run);
  }
  return out;
}

std::string copies_note(std::span<const Run> base, std::span<const Run> now) {
  std::string note;
  const auto add = [&note](std::span<const Run> runs, std::string_view side) {
    const std::size_t distinct = distinct_runs(runs).size();
    if (distinct == runs.size()) return;
    note += (note.empty() ? "" : ", ") + std::to_string(runs.size()) + " recordings in " +
            std::string(side) + " are " + std::to_string(distinct);
  };
  add(base, "base");
  add(now, "new");
  return note.empty() ? note : note + ": copies of one recording count once";
}

Runs runs_of(std::vector<Profile> profiles) {
  Runs runs;
  if (profiles.size() > 1 && ranked(profiles)) {
    runs.push_back(std::move(profiles));
    return runs;
  }
  for (Profile& profile : profiles) {
    Run& run = runs.emplace_back();
    run.push_back(std::move(profile));
  }
  return runs;
}

}  // namespace fathom
