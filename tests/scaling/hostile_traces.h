// Synthetic traces that are as unkind to an analysis as a recording can be, of any size.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "store/trace.h"

namespace fathom {

struct HostileTrace {
  std::string_view name;
  /// `count` of what the trace repeats: a handful of events each.
  Trace (*make)(std::size_t count);
  /// The count to begin with, less in the gate than in make nightly.
  std::size_t count;
};

std::span<const HostileTrace> hostile_traces();

}  // namespace fathom
