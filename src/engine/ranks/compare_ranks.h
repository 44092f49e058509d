// Compares the diagnoses of the ranks of one program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/ranks/rank.h"

namespace fathom {

/// One recording's diagnosis, and its place among those of the same program.
struct RankDiagnosis {
  Diagnosis diagnosis;
  Rank rank;
};

/// What each says of its place.
std::vector<Rank> ranks_of(const std::vector<RankDiagnosis>& recordings);

/// The diagnosis of the rank that holds the others up, else of the one whose steps are longest, or
/// of `rank`; with the comparison of all (Diagnosis::ranks) and `input` as its input. Where waiting
/// for the late rank takes at least 10 % of the mean step, the verdict is straggler. `at` becomes
/// its place in `recordings`. Errors: invalid_argument where no recording is of `rank`, or none is
/// there at all.
Result<Diagnosis> compare_ranks(std::string input, std::vector<RankDiagnosis> recordings,
                                std::optional<std::int64_t> rank, std::size_t& at);

}  // namespace fathom
