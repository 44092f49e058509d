// Tells ranks of one execution from several executions.
#include "compare/runs.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fathom {

SampleSummary step_summary(const Profile& profile) {
  return describe({profile.lengths_ns.begin(), profile.lengths_ns.end()});
}

bool ranked(const std::vector<Profile>& profiles) {
  std::set<std::int64_t> ranks;
  return std::ranges::all_of(profiles, [&ranks](const Profile& profile) {
    return profile.rank != kAbsent && ranks.insert(profile.rank).second;
  });
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
