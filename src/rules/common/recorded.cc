// Looks through the trace for what recorders may leave out.
#include "rules/common/recorded.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "analysis/kernels/occupancy.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

/// What only exists where work goes to a device.
constexpr auto kDeviceNames = std::to_array<std::string_view>(
    {"nccl:", "rccl:", "aten::record_stream", "aten::cudnn_", "aten::_cudnn_", "aten::miopen_"});
/// Only asks, on any processor: an LSTM does.
constexpr std::string_view kDeviceQuestion = "aten::cudnn_is_acceptable";

/// Were fewer than half of the kernels recorded that calls launched? What looks idle may then be
/// busy. A graph launch counts as one kernel, of which it starts at least as many.
bool kernels_missing(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  if (links.launches_without_activity == 0) return false;
  const auto kernels =
      static_cast<std::size_t>(std::ranges::count_if(links.activities, [&trace](SliceId activity) {
        return trace.kind(activity) == SliceKind::kernel;
      }));
  return 2 * kernels < links.kernel_launches;
}

}  // namespace

bool has_shapes(const Trace& trace) {
  return std::ranges::any_of(trace.signatures,
                             [](const Signature& signature) { return signature.shapes.valid(); });
}

bool has_frames(const RuleContext& rules) { return !rules.context.nesting().frames.empty(); }

bool is_training(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Phases& phases = rules.context.phases();
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const Phase phase = phases[slice];
      if ((phase == Phase::backward || phase == Phase::optimizer) &&
          rules.counts(trace.slices.start[slice.row()])) {
        return true;
      }
    }
  }
  return false;
}

const Device* device_of(const RuleContext& rules) {
  return rules.device < 0 ? nullptr : device_properties(rules.trace(), rules.device);
}

bool device_unrecorded(const RuleContext& rules) {
  if (rules.device >= 0) return kernels_missing(rules.context);
  const auto of_devices = [](std::string_view name) {
    return name != kDeviceQuestion &&
           std::ranges::any_of(kDeviceNames,
                               [name](std::string_view word) { return name.starts_with(word); });
  };
  return rules.context.links().launches_without_activity > 0 ||
         NameSet(rules.trace(), of_devices).any();
}

bool only_annotations(const RuleContext& rules) {
  const auto works = [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || category.kind == SliceKind::runtime ||
            category.kind == SliceKind::driver);
  };
  return rules.context.nesting().frames.empty() &&
         std::ranges::none_of(rules.trace().categories, works);
}

}  // namespace fathom
