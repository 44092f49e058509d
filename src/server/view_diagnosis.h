// The diagnosis of what the page looks at, be it one recording or the ranks of a program.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "engine/ranks/each_diagnosis.h"
#include "server/viewed.h"

namespace fathom::server {

/// The bytes of `fathom diagnose --json`, which are kept for the next time as those of the command
/// are. Errors: those of diagnose().
Result<std::string> diagnosis_json(const Session& session, const DiagnosisRequest& request);

/// What goes along with the diagnoses of ranks.
struct BesideRanks {
  decltype(BesideDiagnosis::each) each = {};
  /// Is given each that could not be read.
  std::function<void(const Inputs::File&, const Error&)> failed = {};
};

/// Of the ranks of one program together, where the inputs are that, each of which is read and left
/// again but the first; else of the first input. Errors: those of reading and of diagnose().
Result<std::string> view_diagnosis(Viewed& viewed, const OpenInput& first,
                                   const DiagnosisRequest& request, const BesideRanks& beside);

}  // namespace fathom::server
