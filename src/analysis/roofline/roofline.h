// How far operators are from what the device could do at best.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/device_specs.h"
#include "analysis/roofline/op_cost.h"
#include "analysis/structure/activity_column.h"
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

/// Below this percentage of its roof an operator is bound by latency, as in Nsight Compute.
inline constexpr double kLatencyPercent = 60;

/// Operators of one name, shapes and types, and of equal cost, over the selection.
struct RooflineRow {
  StringId name{};
  SignatureId signature{};  ///< Of one of them.
  std::uint64_t calls = 0;
  std::uint64_t activities = 0;
  Duration device_time{};      ///< Σ of their activities' durations.
  std::optional<OpCost> cost;  ///< Of one call; unset where no formula or no shapes.
  bool over_link = false;      ///< Copies between host and device: judged by the link, one way.
  bool in_l2 = false;          ///< Its working set fits in the shared cache.
  Bound bound = Bound::unknown;
  double peak_flops = 0;  ///< FLOP/s that the device has for it; 0 where not known.
  double peak_bytes = 0;  ///< Bytes/s, of memory, of the cache, or read and written over the link.
  double roof_percent = 0;    ///< Speed-of-light time / device time.
  Duration speed_of_light{};  ///< Σ over the calls: the least time the device's peaks allow.
  Duration headroom{};        ///< device_time - speed_of_light, at least 0.

  /// FLOP per byte; 0 without a cost.
  [[nodiscard]] double intensity() const;
  /// Achieved over device time; 0 without a cost.
  [[nodiscard]] double flops_per_s() const;
  [[nodiscard]] double bytes_per_s() const;
};

struct Roofline {
  const DeviceSpec* device = nullptr;  ///< Whose peaks were used, or nullptr.
  std::string note;                    ///< Which device was assumed, or why there is none.
  std::vector<RooflineRow> rows;       ///< By device time, descending.
  Duration without_operator{};         ///< Device time that belongs to no row.

  /// The row that a device activity counts in, or nullptr.
  [[nodiscard]] const RooflineRow* row_of(SliceId activity) const {
    const std::uint32_t row = row_of_activity[activity.row()].value;
    return row < rows.size() ? &rows[row] : nullptr;
  }

  struct RowNumber {
    std::uint32_t value = UINT32_MAX;
  };
  ActivityColumn<RowNumber> row_of_activity;
};

/// Over the context's selection, by the peaks of its options or of the recorded device. Each
/// activity counts in the row of the innermost operator around it that has a formula, or of the
/// outermost one that stands for all that runs inside it; without any, in that of its innermost
/// operator. O(activities * depth of calls).
Roofline compute_roofline(const Context& context);

}  // namespace fathom
