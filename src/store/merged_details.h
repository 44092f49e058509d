// MergedDetails: detail rows of slices of one trace, copied into another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Copies kernels (equal launches stay one row), copies and fills, and waits. Operators have none
/// in recordings of ours.
class MergedDetails {
 public:
  MergedDetails(Trace& base, const Trace& other) : base_(base), other_(other) {}

  /// The base's row for the other's, or kNone.
  std::uint32_t copy(SliceKind kind, std::uint32_t row);

 private:
  using ConfigKey = std::array<double, 11>;
  static ConfigKey key_of(const LaunchConfig& config);
  LaunchConfigId config(LaunchConfigId theirs);

  Trace& base_;
  const Trace& other_;
  bool indexed_ = false;
  std::map<ConfigKey, LaunchConfigId> configs_;  // of the base
  std::vector<LaunchConfigId> known_;            // by the other's
};

}  // namespace fathom
