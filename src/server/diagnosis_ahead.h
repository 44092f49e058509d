// The diagnosis that the page begins with, made while the browser starts.
#pragma once

#include <string>
#include <string_view>

#include "engine/diagnosis/diagnosis.h"
#include "server/viewed.h"

namespace fathom::server {

/// Under which OpenInput::diagnoses() keeps an answer. `input` as the page names it, "" for the
/// first; options in the order of the address.
std::string diagnosis_key(std::string_view input, const TypedOptions& options);

/// The bytes of `fathom diagnose --json`, which are kept for the next time as those of the command
/// are. Errors: those of diagnose().
Result<std::string> diagnosis_json(const OpenInput& input, const DiagnosisRequest& request);

/// Makes and keeps the diagnosis of a scope as the command line has it, of the first input, as the
/// page will ask for it; an error is kept, too.
void diagnose_ahead(OpenInput& input, TypedOptions scope);

}  // namespace fathom::server
