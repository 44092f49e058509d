// How far operators and kernels are from what the device could do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device_specs.h"
#include "analysis/op_cost.h"
#include "store/trace.h"

namespace fathom {

struct Context;

enum class Bound : std::uint8_t {
  compute,    ///< The compute roof is the lower one, and at least 60 % of it is reached.
  bandwidth,  ///< The bandwidth roof is the lower one, and at least 60 % of it is reached.
  latency,    ///< Below 60 % of both.
  unknown,    ///< Cost or device not known.
};
std::string_view to_string(Bound bound);

/// Operators of one name, shapes and types, over the selection.
struct RooflineRow {
  StringId name{};
  SignatureId signature{};
  std::uint64_t calls = 0;
  Duration device_time{};      ///< Σ of their activities' durations.
  std::optional<OpCost> cost;  ///< Of one call; unset where no formula or no shapes.
  double intensity = 0;        ///< FLOP per byte.
  double flops_per_s = 0;      ///< Achieved over device time.
  double bytes_per_s = 0;
  Bound bound = Bound::unknown;
  double roof_percent = 0;        ///< Speed-of-light time / device time.
  Duration speed_of_light{};      ///< Σ over the calls: the least time the device's peaks allow.
  Duration headroom{};            ///< device_time - speed_of_light, at least 0.
  bool in_l2 = false;             ///< Its working set fits in the L2 cache.
  std::vector<SliceId> examples;  ///< The costliest calls, at most eight.
};

struct Roofline {
  const DeviceSpec* device = nullptr;  ///< Whose peaks were used, or nullptr.
  std::string note;                    ///< Why rows abstain, or which peaks were assumed.
  std::vector<RooflineRow> rows;       ///< By device time, descending.
  /// Per cpu_op slice row: its row in `rows`, or UINT32_MAX.
  Column<std::uint32_t> row_of;
};

/// Over the context's selection. O(ops + activities).
Roofline compute_roofline(const Context& context);

}  // namespace fathom
