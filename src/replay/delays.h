// How long the machine takes where nothing is in the way: medians of what the recording shows.
#pragma once

#include <array>

#include "analysis/context.h"
#include "replay/streams.h"

namespace fathom {

/// Medians; what a recording has no sample of is the least that it shows.
struct TypicalDelays {
  /// From the begin of the call to the start of its activity on an idle stream, by CallKind.
  std::array<Duration, static_cast<std::size_t>(CallKind::allocate) + 1> launch{};
  /// From the end of an activity to the start of the next on its stream, launched long before.
  Duration stream{};
};

/// O(n).
TypicalDelays compute_delays(const Context& context, const Streams& streams);

/// The median (the lower of two), zero of nothing. Reorders the samples.
Duration median_of(std::vector<Duration>& samples);

}  // namespace fathom
