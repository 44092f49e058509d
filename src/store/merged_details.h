// MergedDetails: detail rows of slices of one trace, copied into another.
#pragma once

#include <cstdint>
#include <unordered_map>
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
  /// The same row with the base's texts and launches.
  template <typename Row>
  Row of_base(Row row);
  StringId text(StringId theirs);
  LaunchConfigId config(LaunchConfigId theirs);

  Trace& base_;
  const Trace& other_;
  bool indexed_ = false;
  std::unordered_map<LaunchConfig, LaunchConfigId, LaunchConfigHash> configs_;  // of the base
  std::vector<LaunchConfigId> known_;                                           // by the other's
};

}  // namespace fathom
