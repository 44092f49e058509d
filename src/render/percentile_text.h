// Percentiles, which small samples do not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fathom {

/// "p95 12.3 ms", or "p95 – (needs 59 values, has 5)".
std::string percentile_text(double fraction, const std::optional<double>& ns, std::size_t count);

/// Rounded, for JSON.
std::optional<std::int64_t> whole_percentile(const std::optional<double>& ns);

}  // namespace fathom
