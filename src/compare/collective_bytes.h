// How many bytes collectives are given.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/context.h"
#include "compare/step_windows.h"

namespace fathom {

/// What this rank gives to the collectives that begin in the windows: recorded elements times their
/// size. By the device's kernels where all of them say it, else by the host's calls. Unset where
/// one lacks elements or a known type, or where there is none.
std::optional<std::int64_t> collective_bytes(const Context& context, const StepWindows& windows,
                                             std::int32_t device);

}  // namespace fathom
