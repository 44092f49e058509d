// Pairs the recordings of two sides.
#include "compare/sides.h"

#include <algorithm>
#include <cmath>

#include "compare/runs.h"

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

}  // namespace

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
