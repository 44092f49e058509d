// The slices that a target of `fathom whatif` names.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "base/result.h"

namespace fathom {

/// Host slices and device activities.
struct Targets {
  std::vector<SliceId> host;
  std::vector<SliceId> activities;
  [[nodiscard]] std::size_t size() const { return host.size() + activities.size(); }
};

/// See WhatIfRequest::scale. Errors: not a target, or nothing has that name, with the closest that
/// has. O(slices).
Result<Targets> find_targets(const Context& context, std::string_view target);

/// The names of the trace for which `matches` holds, by StringId row; asked for once per name.
std::vector<bool> names_that(const Trace& trace,
                             const std::function<bool(std::string_view)>& matches);

}  // namespace fathom
