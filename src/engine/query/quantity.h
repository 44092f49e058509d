// Numbers as people write them: 1.5ms, 4KiB, 20%, 1e6.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/structure/selection.h"
#include "base/result.h"

namespace fathom {

/// What a number without a unit means, and which units it may carry.
enum class QuantityKind : std::uint8_t {
  plain,     ///< k, M, G allowed.
  duration,  ///< Without a unit: nanoseconds. ns, us, µs, ms, s, min.
  bytes,     ///< Without a unit: bytes. B, KB, KiB, MB, MiB, GB, GiB.
  percent,   ///< Without a unit: percent. %.
};

/// The number in the kind's base unit (ns, bytes, percent).
Result<double> parse_quantity(std::string_view text, QuantityKind kind);

/// "3-7", "5", "3-", "-7".
Result<Selection::StepRange> parse_steps(std::string_view text);

/// Distances from the start of the trace's span; an open end is the span's own.
struct WindowRequest {
  Duration begin{};
  Duration end = Duration::max();
};
/// "10ms:25ms", ":5ms", "5ms:". A number without a unit is refused: its meaning is unknown.
Result<WindowRequest> parse_window(std::string_view text);

/// What a kilowatt-hour costs, in money or in grams: a number from 0 on.
Result<double> parse_rate(std::string_view text);

}  // namespace fathom
