// What a recording must hold for a report to have something to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/context.h"

namespace fathom {

/// A table of the store (docs/design.md, section 3), or the part of one that reports ask about.
enum class StoreTable : std::uint8_t {
  activities,     ///< Slices on devices: kernels, copies, fills.
  kernels,        ///< Those that are kernels.
  copies,         ///< Those that are copies or fills.
  calls,          ///< Slices of the runtime or the driver.
  module_frames,  ///< Python frames of nn.Module.
  loader_slices,  ///< Slices of a data loader's work.
  ranges,         ///< Annotations and marks.
  counters,       ///< Tracks with samples of telemetry.
  functions,
  lines,
  process_runs,
  stack_samples,
  work,       ///< Slices but for the recorder's own span and pauses of a garbage collector.
  operators,  ///< Work, or events of an allocator.
  stacks,     ///< What has stacks or stands for them: work, samples, a profile of functions.
};

struct Need {
  StoreTable table;
  std::string_view otherwise = {};  ///< What to say where it is missing; empty: the usual sentence.
};

/// Nothing where the recording has it, else what is missing, and as far as the recording shows it,
/// why.
std::optional<std::string> missing(const Context& context, const Need& need);

}  // namespace fathom
