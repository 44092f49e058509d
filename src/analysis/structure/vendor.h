// Whose calls and device events a recording holds.
#pragma once

#include <string_view>

#include "store/trace.h"

namespace fathom {

/// Did the program call CUDA or HIP, as far as it shows? False where the calls of a runtime were
/// recorded and all are another accelerator's: what only holds for CUDA does not hold there.
/// O(slices) at worst.
bool speaks_cuda(const Trace& trace);

/// Did the program call HIP? Its names are those of CUDA in PyTorch, but not all of its settings.
/// O(slices) at worst.
bool speaks_hip(const Trace& trace);

/// May its allocator be told to use segments that expand? CUDA's; others ignore the setting or lack
/// it. O(slices) at worst.
bool segments_can_expand(const Trace& trace);

/// Is an activity no work: its stream waits for an event, or notes one (MTIA writes these beside
/// kernels)?
bool is_stream_wait(std::string_view activity);

/// Is an activity that was recorded as a kernel a copy that the device's own engine makes (MTIA)?
bool is_dma_request(std::string_view activity);

}  // namespace fathom
