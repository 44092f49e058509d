// How the call forest and the launches of a trace lie in the file that they are kept in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/context.h"

namespace fathom {

/// The content of the file, without what says which trace it is of. Both are of one trace.
std::string write_structure(const Nesting& nesting, const Links& links);

/// What `content` holds. None where it is not whole, or a number in it leads out of `trace`: each
/// slice of a thread is there once and behind its parent, so that every walk to the outside ends.
std::optional<Structure> read_structure(std::string_view content, const Trace& trace);

}  // namespace fathom
