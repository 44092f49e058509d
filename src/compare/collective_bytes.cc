// Sums elements times their size over the recorded collectives.
#include "compare/collective_bytes.h"

#include <algorithm>

#include "analysis/devices/collectives.h"

namespace fathom {
namespace {

/// Unset where it is not recorded. Waiting for a collective gives nothing.
std::optional<std::int64_t> bytes_of(const Trace& trace, const Collective& collective) {
  const bool waits = collective.name.valid() && trace.text(collective.name) == "wait";
  if (collective.in_elements == 0 || waits) return 0;
  if (collective.in_elements < 0 || !collective.dtype.valid()) return std::nullopt;
  const std::int64_t each = dtype_bytes(trace.text(collective.dtype));
  std::int64_t bytes = 0;
  const bool fits = each > 0 && !__builtin_mul_overflow(collective.in_elements, each, &bytes);
  return fits ? std::optional(bytes) : std::nullopt;
}

/// Of those that `counts` says count.
template <typename Counts>
std::optional<std::int64_t> sum(const Trace& trace, const Counts& counts) {
  std::int64_t all = 0;
  bool any = false;
  for (const Collective& each : trace.collectives) {
    if (!counts(each.slice)) continue;
    const std::optional<std::int64_t> bytes = bytes_of(trace, each);
    if (!bytes || __builtin_add_overflow(all, *bytes, &all)) return std::nullopt;
    any = true;
  }
  return any ? std::optional(all) : std::nullopt;
}

/// Do all communication kernels in the windows say what they are given?
bool kernels_say_it(const Context& context, const StepWindows& windows, std::int32_t device) {
  const DeviceTimeline* const timeline = context.timelines().find(device);
  if (timeline == nullptr) return false;
  const Trace& trace = context.trace;
  return std::ranges::all_of(timeline->activities, [&](SliceId activity) {
    if (context.timelines().busy_kind(trace, activity) != Busy::communication ||
        !windows.holds(trace.slices.start[activity.row()]))
      return true;
    return std::ranges::binary_search(trace.collectives, activity, {}, &Collective::slice);
  });
}

}  // namespace

std::optional<std::int64_t> collective_bytes(const Context& context, const StepWindows& windows,
                                             std::int32_t device) {
  const Trace& trace = context.trace;
  const auto held = [&](SliceId slice) { return windows.holds(trace.slices.start[slice.row()]); };
  if (device >= 0 && kernels_say_it(context, windows, device)) {
    const auto of_device = sum(trace, [&](SliceId slice) {
      return trace.kind(slice) == SliceKind::kernel && held(slice) &&
             trace.tracks[trace.slices.track[slice.row()].row()].device == device;
    });
    if (of_device) return of_device;
  }
  return sum(trace,
             [&](SliceId slice) { return trace.kind(slice) != SliceKind::kernel && held(slice); });
}

}  // namespace fathom
