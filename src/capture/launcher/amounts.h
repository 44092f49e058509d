// Durations and sizes as people type them on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fathom::capture {

/// "500ms", "30s", "2min", "1.5h"; a number without a unit is seconds. Never negative.
/// Errors: invalid_argument, with what is accepted.
Result<Duration> parse_duration(std::string_view text);

/// Bytes: "4096", "64k", "256MB", "1.5GiB". kB, MB, GB are powers of 1000; k, M, G and KiB, MiB,
/// GiB powers of 1024. Errors: invalid_argument, with what is accepted.
Result<std::int64_t> parse_size(std::string_view text);

}  // namespace fathom::capture
