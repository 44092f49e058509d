// Diagnoses of the ranks of one program, made one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// One recording's diagnosis, and what tells whether it is of the same program as others.
struct RankDiagnosis {
  Diagnosis diagnosis;
  std::optional<std::int64_t> rank;        ///< Unset where the recording names none.
  std::optional<std::int64_t> world_size;  ///< As recorded.
};

RankDiagnosis diagnosis_of_rank(const Session& session, Diagnosis diagnosis);

/// May this recording be one of several ranks? It says so itself.
bool is_rank(const RankDiagnosis& one);

/// Several recordings that are different ranks of equally many: of one program, as far as they say.
/// Recordings of one session folder are so without being asked.
bool are_ranks_of_one_program(const std::vector<RankDiagnosis>& recordings);

/// The diagnosis of the rank that holds the others up, else of the one whose steps are longest, or
/// of `rank`; with the comparison of all (Diagnosis::ranks) and `input` as its input. Where waiting
/// for the late rank takes at least 10 % of the mean step, the verdict is straggler. `at` becomes
/// its place in `recordings`. Errors: invalid_argument where no recording is of `rank`, or none is
/// there at all.
Result<Diagnosis> compare_ranks(std::string input, std::vector<RankDiagnosis> recordings,
                                std::optional<std::int64_t> rank, std::size_t& at);

}  // namespace fathom
