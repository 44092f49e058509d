// Adds device time to the rows of the operator table.
#pragma once

#include <vector>

#include "analysis/context.h"
#include "analysis/operators/op_groups.h"
#include "analysis/operators/op_rows.h"
#include "analysis/structure/torch_forest.h"

namespace fathom {

/// Sums of activities that belong to no row of a name.
struct DeviceRemainder {
  std::int64_t no_operator_count = 0;
  Duration no_operator{};
  std::int64_t unattributed_count = 0;
  Duration unattributed{};
};

/// What both ways of adding device time need.
struct OpDeviceInput {
  const Context& context;
  const TorchNames& names;
  const TorchForest& forest;
  const OpGroups& groups;
  const std::vector<bool>& ranges;  ///< ranges_among_operators(); torch's own table knows none.
};

/// By Links: self time goes to the operator, total time to every counted operator and annotation
/// around the launch, once per row and activity.
DeviceRemainder add_device_time(const OpDeviceInput& input, OpRows& rows);

/// torch's way: an operator owns the device events that carry its External id, and parents add up
/// their children; adds the rows of the device events themselves. Returns the sum of their self
/// times, projected annotations left out.
Duration add_torch_device_time(const OpDeviceInput& input, OpRows& rows);

/// The row of a counted host event.
std::size_t host_row(const OpDeviceInput& input, OpRows& rows, SliceId slice);

}  // namespace fathom
