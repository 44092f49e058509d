// The part of the overview about devices.
#pragma once

#include <cstddef>
#include <string>

#include "reports/overview_rows.h"

namespace fathom {

/// "2 edge steps".
std::string edge_steps(std::size_t count);

/// A section for each selected device. In brief, more than a few devices are the idlest one, a line
/// for each of the next, and what they have in common: the overview stays a screen.
void add_devices(const Context& context, OverviewRows& rows);

}  // namespace fathom
