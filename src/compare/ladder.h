// A ladder: a baseline and changes made one after the other, each beside the one before and beside
// the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/sides.h"
#include "compare/target.h"

namespace fathom {

/// One variant.
struct LadderVariant {
  ComparedSide side;
  std::optional<std::int64_t> peak_bytes;  ///< Allocated, of the whole recording.
  std::optional<Comparison> step;          ///< From the variant before; unset for the first.
  std::optional<Comparison> in_all;        ///< From the first; unset for the first.
};

struct Ladder {
  std::vector<LadderVariant> variants;  ///< At least two.
  std::int64_t rank = kAbsent;          ///< Whose steps are shown, of several.
  std::optional<Target> target;
  std::optional<TargetProgress> progress;  ///< Of the last variant.
  std::vector<std::string> notes;
};

/// How far new is, by the medians and their interval. As of a budget (compare/check.h), one that
/// does not cover how runs vary decides only with Target::within_runs.
TargetProgress progress_of(const Target& target, const Comparison& pair);

/// Of several ranks the one with the largest change in all is shown on every variant. `variants`
/// are at least two. Errors: invalid_argument where two have no recording that may be compared.
Result<Ladder> ladder_of(std::span<const Runs> variants, std::optional<Target> target);

}  // namespace fathom
