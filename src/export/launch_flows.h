// Arrows from launches to device work, of recordings that say only correlation ids.
#pragma once

#include <vector>

#include "store/trace.h"

namespace fathom {

struct LaunchFlow {
  SliceId launch;
  SliceId activity;
};

/// From each launch, by correlation id, to what it started; none where the recording itself has
/// arrows that end on a device. By activity. O(rows).
std::vector<LaunchFlow> launch_flows(const Trace& trace);

/// What such arrows are called, as Kineto calls its own.
inline constexpr std::string_view kLaunchFlow = "ac2g";

}  // namespace fathom
