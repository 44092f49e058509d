// Diagnoses of all inputs, in which the ranks of one program are one.
#pragma once

#include <functional>

#include "engine/diagnosis/diagnosis.h"
#include "engine/each_session.h"

namespace fathom {

/// A diagnosis of one input, or of the ranks of one program.
struct InputDiagnosis {
  const Diagnosis& diagnosis;
  const Session* session;    ///< The one that it is of; null where it was closed since.
  const Inputs::File& file;  ///< Opens that session again.
  bool several;              ///< It may not be the only one.
};

using UseDiagnosis = std::function<Result<Proceed>(const InputDiagnosis&)>;

/// Diagnoses each recording, with one in memory at a time. The recordings of a session folder, and
/// those of another folder or pattern that say that they are ranks of one program, give one
/// diagnosis (engine/ranks/compare_ranks.h). Failures as for_each_session() has them.
void for_each_diagnosis(const Inputs& inputs, const DiagnosisRequest& request,
                        const InputHandlers& handlers, const UseDiagnosis& use);

}  // namespace fathom
