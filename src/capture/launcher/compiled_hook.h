// The hook as Python has compiled it, kept from run to run: compiling it takes longer than running
// it.
#pragma once

#include <cstdint>
#include <string>

namespace fathom::capture {

/// Of all files of the hook: another hook has another number.
std::uint64_t hook_number();

/// Copies what was kept into the hook's folder. Where that fails, Python compiles it anew.
void restore_compiled_hook(const std::string& folder);

/// Keeps what Python compiled in the hook's folder, in $XDG_CACHE_HOME or ~/.cache, below
/// fathom/hook-NUMBER; nothing where neither is there and ours.
void keep_compiled_hook(const std::string& folder);

}  // namespace fathom::capture
