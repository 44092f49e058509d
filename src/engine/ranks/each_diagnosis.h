// Diagnoses of all inputs, in which the ranks of one program are one.
#pragma once

#include <functional>

#include "engine/diagnosis/diagnosis.h"
#include "engine/each_session.h"

namespace fathom {

/// A diagnosis of one input, or of the ranks of one program.
struct InputDiagnosis {
  const Diagnosis& diagnosis;
  SharedSession session;     ///< The one that it is of; null where it was closed since.
  const Inputs::File& file;  ///< Opens that session again.
  bool several;              ///< It may not be the only one.
};

using UseDiagnosis = std::function<Result<Proceed>(const InputDiagnosis&)>;

/// What is done with the recordings beside.
struct BesideDiagnosis {
  /// Is given each that was diagnosed, while it is in memory.
  std::function<void(const Session&, const Inputs::File&, const Diagnosis&)> each = {};
  /// Of ranks, the one that will be diagnosed is needed, too: the likeliest so far stays in memory,
  /// so that it is seldom opened again.
  bool keep_diagnosed = false;
};

/// Can these inputs be the ranks of one program, as far as one knows before they are read?
bool may_be_one_program(const Inputs& inputs);

/// Diagnoses each recording, with one in memory at a time, or with `keep_diagnosed` two. The
/// recordings of a session folder, and those of another folder or pattern that say that they are
/// ranks of one program, give one diagnosis (engine/ranks/compare_ranks.h). Failures as
/// for_each_session() has them.
void for_each_diagnosis(const Inputs& inputs, const DiagnosisRequest& request,
                        const InputHandlers& handlers, const UseDiagnosis& use,
                        const BesideDiagnosis& beside = {});

}  // namespace fathom
