// Results of fathom bench as a side of a comparison: how long runs took, without what they did.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/held_files.h"
#include "base/result.h"
#include "compare/profile.h"

namespace fathom {

/// The first words of every result that fathom bench --json writes.
inline constexpr std::string_view kBenchSchema = "fathom.bench/";

/// The runs of the command that was measured as `new`, those of the warm-up left out: a length for
/// each, of the metric that decided. Of a function, whose runs are blocks of calls, the length is
/// that of a call. A profile with `times_only`. Errors: corrupt, with what is missing; unsupported
/// for another version, a metric that is no time, or runs of which half took 0 ns.
Result<Profile> parse_bench_result(std::string_view text);

/// Reads a file, or bench.json in a folder. Unset where it is none, or no such result; then it
/// stays open in `held` for who reads it as something else.
Result<std::optional<Profile>> bench_result_in(const std::string& path, HeldFiles& held);

}  // namespace fathom
