// Diagnoses of all inputs, in which the ranks of one program are one.
#pragma once

#include <functional>
#include <string>

#include "cli/each_input.h"
#include "engine/diagnosis/diagnosis.h"

namespace fathom::cli {

/// What to do with a diagnosis. `session` is the one that it is of; null where it was closed since:
/// `file` is then what to open again. `several`: it may not be the only one.
using UseDiagnosis = std::function<Result<Use>(const Diagnosis& diagnosis, const Session* session,
                                               const Inputs::File& file, bool several)>;

/// Diagnoses each recording, with one in memory at a time. The recordings of a session folder, and
/// those of another folder or pattern that say that they are ranks of one program, give one
/// diagnosis (engine/ranks/compare_ranks.h). Errors are said. Returns the exit code.
int for_each_diagnosis(const Inputs& inputs, const ReadWish& read, const DiagnosisRequest& request,
                       const UseDiagnosis& use);

}  // namespace fathom::cli
