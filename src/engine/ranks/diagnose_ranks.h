// The diagnosis of a program whose ranks are all in memory.
#pragma once

#include <span>
#include <string>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// Diagnoses each, and makes one of them as compare_ranks() does; `request.rank` chooses. `at`
/// becomes the place in `sessions` of the one that is diagnosed. Errors: those of diagnose() and of
/// compare_ranks(). Whether they are ranks of one program is the caller's business
/// (engine/ranks/rank.h).
Result<Diagnosis> diagnose_ranks(const std::string& input, std::span<const Session* const> sessions,
                                 const DiagnosisRequest& request, std::size_t& at);

}  // namespace fathom
