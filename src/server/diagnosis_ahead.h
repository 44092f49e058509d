// The diagnosis that the page begins with, made while the browser starts.
#pragma once

#include <string>
#include <string_view>

#include "engine/query/typed.h"
#include "server/viewed.h"

namespace fathom::server {

/// Under which OpenInput::diagnoses() keeps an answer. `input` as the page names it, "" for the
/// first; options in the order of the address.
std::string diagnosis_key(std::string_view input, const TypedOptions& options);

/// Makes and keeps the diagnosis of a scope as the command line has it, of the first input, as the
/// page will ask for it; an error is kept, too.
void diagnose_ahead(OpenInput& input, TypedOptions scope);

}  // namespace fathom::server
