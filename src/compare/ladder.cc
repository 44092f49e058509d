// Compares each variant with the one before and with the first.
#include "compare/ladder.h"

#include <algorithm>
#include <utility>

namespace fathom {
namespace {

/// The pair of that rank, else the one to show.
Comparison& pair_of(ComparedSides& sides, std::int64_t rank) {
  const auto at = std::ranges::find(sides.ranks, rank);
  const bool known = rank != kAbsent && at != sides.ranks.end();
  return sides.pairs[known ? static_cast<std::size_t>(at - sides.ranks.begin()) : sides.shown];
}

std::optional<std::int64_t> peak_of(const Comparison& pair,
                                    std::optional<std::int64_t> ComparedCounter::*side) {
  const auto at = std::ranges::find(pair.counters, "peak_allocated_bytes", &ComparedCounter::id);
  return at == pair.counters.end() ? std::nullopt : (*at).*side;
}

}  // namespace

TargetProgress progress_of(const Target& target, const Comparison& pair) {
  const bool decides =
      pair.covers_runs || target.within_runs || pair.comparability == Comparability::same_recording;
  TargetProgress progress = progress_to(target, pair.base.step_ns.median, pair.now.step_ns.median,
                                        decides ? pair.ratio_interval : std::nullopt);
  if (!decides && pair.ratio_interval)
    progress.reason =
        "the interval does not cover how runs vary, which takes 6 pairs of runs, recorded in "
        "turns; --within-runs decides about these runs only";
  return progress;
}

Result<Ladder> ladder_of(std::span<const Runs> variants, std::optional<Target> target) {
  std::vector<ComparedSides> in_all;
  for (const Runs& variant : variants.subspan(1)) {
    Result<ComparedSides> sides = compare_runs(variants.front(), variant);
    if (!sides) return std::move(sides).error();
    in_all.push_back(std::move(*sides));
  }
  Ladder ladder;
  ladder.target = std::move(target);
  ladder.rank = in_all.back().ranks[in_all.back().shown];
  for (std::size_t i = 0; i < in_all.size(); ++i) {
    Result<ComparedSides> before = compare_runs(variants[i], variants[i + 1]);
    if (!before) return std::move(before).error();
    for (const ComparedSides* const sides : {&*before, &in_all[i]}) {
      for (const std::string& note : sides->notes)
        if (std::ranges::find(ladder.notes, note) == ladder.notes.end())
          ladder.notes.push_back(note);
    }
    Comparison& all = pair_of(in_all[i], ladder.rank);
    if (i == 0)
      ladder.variants.push_back({.side = all.base,
                                 .peak_bytes = peak_of(all, &ComparedCounter::base),
                                 .step = {},
                                 .in_all = {}});
    const ComparedSide side = all.now;
    const std::optional<std::int64_t> peak = peak_of(all, &ComparedCounter::now);
    ladder.variants.push_back({.side = side,
                               .peak_bytes = peak,
                               .step = std::move(pair_of(*before, ladder.rank)),
                               .in_all = std::move(all)});
  }
  if (ladder.target) ladder.progress = progress_of(*ladder.target, *ladder.variants.back().in_all);
  return ladder;
}

}  // namespace fathom
