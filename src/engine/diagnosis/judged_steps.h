// Which steps of a recording are judged, and on which device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/context.h"
#include "engine/diagnosis/baseline.h"

namespace fathom {

/// The steps that count: those of the focus if there is one, which was looked for in the selected
/// time, else the trace's counted steps, as far as they lie in it. Where several processes have
/// steps, those of the processes that launch onto the device that is judged.
std::vector<const Step*> judged_steps(const Context& context, const std::vector<Step>& focused);

/// The device that was asked for, else of those that have a share in the work of the counted steps
/// the one that idles most; -1 without any.
std::int32_t judged_device(const Context& context, std::span<const Step* const> steps);

/// What a diagnosis is about, without the diagnosis.
struct UsualSteps {
  std::vector<const Step*> counted;
  std::vector<const Step*> usual;  ///< Those that are no outliers; in the order of the trace.
  std::int32_t device = -1;        ///< -1 without any.
  std::optional<Batch> batch;      ///< Of the usual ones.
};

/// O(n log n). The steps are those of the context, which must outlive them.
UsualSteps usual_steps(const Context& context);

}  // namespace fathom
