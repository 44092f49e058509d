// For what each statement of a Python program waited, and for how long.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "analysis/context.h"

namespace fathom {

/// A statement by its texts, which are the trace's; of no line, `first` is 0.
struct WaitingLine {
  std::int64_t pid = kAbsent;
  std::string_view file{};
  std::uint32_t first = 0;
  std::string_view function{};
  friend auto operator<=>(const WaitingLine&, const WaitingLine&) = default;
};

/// What waited, by cause: a call that waits for a device by its name, "data loader", or what
/// samples found, as "lock" or "sleep".
using WaitsByCause = std::map<std::string_view, Duration>;

struct LineWaits {
  /// Waits were recorded, or would have been: of devices, of a data loader, or in samples.
  bool known = false;
  /// Every wait of the selection is in exactly one of them: of a line, or of none.
  std::map<WaitingLine, WaitsByCause> lines;
};

/// Of what is selected. A call that waits for a device, and the loop's waiting for a batch, belong
/// to the statement that their thread was in when they began. A wait that samples found is that of
/// the innermost statement on its stack; only what is none of the others counts.
/// O((slices + samples + frames) * log n).
LineWaits compute_line_waits(const Context& context);

}  // namespace fathom
