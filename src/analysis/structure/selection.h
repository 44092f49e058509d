// What part of a trace a table looks at, and how it groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace fathom {

struct DeviceSpec;

/// --steps, --device, --window. Nothing set means everything.
struct Selection {
  struct StepRange {
    std::int64_t first = 0;  ///< Step numbers as recorded (ProfilerStep#N), inclusive.
    std::int64_t last = 0;
  };
  std::optional<StepRange> steps;
  std::optional<std::int32_t> device;
  std::optional<Interval>
      window;  ///< Counted from the start of the trace's span; Context::window() shifts it.
};

/// What shapes a table beside the selection. A report ignores what it does not document.
struct TableOptions {
  std::string group_by;  ///< One of the report's group_by choices, or empty for its default.
  int stack_depth = 0;   ///< N of --group-by stack=N.
  bool torch = false;    ///< Follow torch's text and rows exactly (ops).
  std::string metric;    ///< stacks: "host" or "device".
  /// energy: money and grams of CO2 per kilowatt-hour; negative: as recorded, else not known.
  double price_per_kwh = -1;
  double carbon_g_per_kwh = -1;
  const DeviceSpec* peaks = nullptr;  ///< roofline: instead of the recorded device's. Borrowed.
};

}  // namespace fathom
