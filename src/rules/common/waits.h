// What made the host wait for the diagnosed device, and how far the idle time behind each wait
// goes.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Calls directly after one another that waited for the same work of the diagnosed device: no
/// activity began between the first and the return of the last. Their cost is the longest one's.
struct DeviceWait {
  std::vector<const SyncCall*> calls;  ///< The longest first.
  Duration waited{};                   ///< In any of them.
  Interval reach{};  ///< From the begin of the first to the begin of the next wait, or Time::max().
};

/// By time. Left out are calls that can have cost nothing: before the first activity of the device
/// (they wait for what was launched before the recording), and after the last (nothing follows that
/// they delay). O((syncs + activities) * log n).
std::vector<DeviceWait> device_waits(const RuleContext& rules);

}  // namespace fathom
