// Whether a recording holds work of the host at all, or only the pauses between it.
#pragma once

#include <string_view>

#include "analysis/context.h"

namespace fathom {

/// True where all that was recorded of the host are pauses of the garbage collector, as of a
/// sampled program: they are no operators, and no step.
bool holds_only_pauses(const Context& context);

/// What reports that need work say then.
inline constexpr std::string_view kOnlyPauses =
    "The recording holds neither operators nor steps: of the program itself only pauses of the "
    "garbage collector. fathom hot shows where samples found it, if there are any.";

}  // namespace fathom
