// Collects where the time of the usual steps went, by operator and kernel.
#pragma once

#include <span>
#include <vector>

#include "analysis/context.h"
#include "analysis/structure/torch_names.h"
#include "compare/profile.h"
#include "compare/step_windows.h"

namespace fathom {

/// The usual steps of one recording, and in which batch each is.
struct JudgedTime {
  const TorchNames& names;
  std::span<const Step* const> steps;
  const StepWindows& windows;
  std::span<const std::uint32_t> batch_of;  ///< By step.
  std::size_t batches = 0;
  std::int32_t device = -1;  ///< -1: the main thread.
};

/// By key; the times sum to the steps' lengths to the nanosecond. A busy instant of a device counts
/// for the activity that is credited with it (analysis/accounting/credit.h), an idle one for its
/// cause; without a device an instant of the main thread counts for its innermost operator.
/// O(n log n).
std::vector<ProfileRow> collect_work(const Context& context, const JudgedTime& judged);

}  // namespace fathom
