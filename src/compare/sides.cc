// Pairs the recordings of two sides.
#include "compare/sides.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantity_text.h"
#include "compare/pool.h"
#include "compare/time_ratio.h"

namespace fathom {
namespace {

std::string missing_note(const Profile& profile, std::string_view other) {
  const std::string rank =
      profile.rank == kAbsent ? "" : "Rank " + std::to_string(profile.rank) + ", ";
  return rank + profile.input + ", has no counterpart in the " + std::string(other) +
         " recordings and is left out.";
}

void pair_up(const Profile& base, const Profile& now, ComparedSides& out) {
  out.pairs.push_back(compare_profiles(base, now));
  out.ranks.push_back(base.rank == now.rank ? base.rank : kAbsent);
}

void pair_by_rank(const std::vector<Profile>& base, const std::vector<Profile>& now,
                  ComparedSides& out) {
  for (const Profile& each : base) {
    const auto same = std::ranges::find(now, each.rank, &Profile::rank);
    if (same == now.end()) {
      out.notes.push_back(missing_note(each, "new"));
    } else {
      pair_up(each, *same, out);
    }
  }
  for (const Profile& each : now) {
    if (std::ranges::find(base, each.rank, &Profile::rank) == base.end())
      out.notes.push_back(missing_note(each, "base"));
  }
}

void pair_by_order(const std::vector<Profile>& base, const std::vector<Profile>& now,
                   ComparedSides& out) {
  const std::size_t both = std::min(base.size(), now.size());
  for (std::size_t i = 0; i < both; ++i) pair_up(base[i], now[i], out);
  for (std::size_t i = both; i < base.size(); ++i)
    out.notes.push_back(missing_note(base[i], "new"));
  for (std::size_t i = both; i < now.size(); ++i) out.notes.push_back(missing_note(now[i], "base"));
}

/// The recordings of one rank, one of each run.
using RankOfRuns = std::map<std::int64_t, std::vector<const Profile*>>;

RankOfRuns by_rank(const std::vector<const Run*>& runs, bool ranks) {
  RankOfRuns groups;
  for (const Run* const run : runs) {
    for (const Profile& profile : *run) groups[ranks ? profile.rank : kAbsent].push_back(&profile);
  }
  return groups;
}

/// Runs differ by more than their steps do: the interval is that of the runs.
void take_interval(const std::vector<const Profile*>& base, const std::vector<const Profile*>& now,
                   Comparison& pair) {
  const Result<Budget> no_slower = parse_budget("step_time+0%");
  const TimeRatio over_runs = time_ratio(*no_slower, lengths_of(base), lengths_of(now));
  pair.ratio_interval = over_runs.interval;
  pair.covers_runs = over_runs.covers_runs;
  if (over_runs.basis.empty()) {
    pair.ratio_note = "No interval: " + over_runs.reason + ".";
    return;
  }
  pair.ratio_note = "The interval is " + over_runs.basis;
  // That of all steps together is another number, and may lie outside.
  if (over_runs.of_pairs) {
    constexpr double kInPercent = 100;
    pair.ratio_note += ", whose median ratio is " + percent_text(kInPercent * over_runs.ratio);
  }
  if (!over_runs.reason.empty()) pair.ratio_note += "; " + over_runs.reason;
  pair.ratio_note += '.';
}

bool same_kind(const std::vector<const Profile*>& profiles) {
  return std::ranges::all_of(profiles, [&](const Profile* profile) {
    return profile->on_device == profiles.front()->on_device &&
           profile->times_only == profiles.front()->times_only;
  });
}

}  // namespace

Result<ComparedSides> compare_runs(const Runs& all_base, const Runs& all_new) {
  const std::vector<const Run*> base = distinct_runs(all_base);
  const std::vector<const Run*> now = distinct_runs(all_new);
  const std::string copies = copies_note(all_base, all_new);
  if (base.size() == 1 && now.size() == 1) {
    Result<ComparedSides> sides = compare_sides(*base.front(), *now.front());
    if (sides && !copies.empty()) sides->notes.push_back("Of the runs, " + copies + ".");
    return sides;
  }
  const auto several = [](const Run* run) { return run->size() > 1; };
  const bool ranks = std::ranges::any_of(base, several) || std::ranges::any_of(now, several);
  const RankOfRuns base_ranks = by_rank(base, ranks);
  const RankOfRuns now_ranks = by_rank(now, ranks);
  ComparedSides out;
  if (!copies.empty()) out.notes.push_back("Of the runs, " + copies + ".");
  for (const auto& [rank, before] : base_ranks) {
    const auto after = now_ranks.find(rank);
    if (after == now_ranks.end() || before.size() != base.size() ||
        after->second.size() != now.size() || !same_kind(before) || !same_kind(after->second)) {
      out.notes.push_back(missing_note(*before.front(), "other"));
      continue;
    }
    out.pairs.push_back(compare_profiles(pooled(before), pooled(after->second)));
    out.ranks.push_back(rank);
    take_interval(before, after->second, out.pairs.back());
  }
  for (const auto& [rank, after] : now_ranks) {
    if (!base_ranks.contains(rank)) out.notes.push_back(missing_note(*after.front(), "base"));
  }
  if (out.pairs.empty())
    return Error{ErrorCode::invalid_argument, "compare: no recording is in all runs of both sides"};
  const auto largest = std::ranges::max_element(
      out.pairs, {}, [](const Comparison& pair) { return std::abs(pair.change_ns); });
  out.shown = static_cast<std::size_t>(largest - out.pairs.begin());
  return out;
}

Result<ComparedSides> compare_sides(const std::vector<Profile>& base,
                                    const std::vector<Profile>& now) {
  ComparedSides out;
  const bool several = base.size() > 1 || now.size() > 1;
  if (several && ranked(base) && ranked(now)) {
    pair_by_rank(base, now, out);
  } else {
    pair_by_order(base, now, out);
  }
  if (out.pairs.empty())
    return Error{ErrorCode::invalid_argument,
                 "compare: no recording of the one side has a counterpart on the other"};
  const auto largest = std::ranges::max_element(
      out.pairs, {}, [](const Comparison& pair) { return std::abs(pair.change_ns); });
  out.shown = static_cast<std::size_t>(largest - out.pairs.begin());
  return out;
}

}  // namespace fathom
