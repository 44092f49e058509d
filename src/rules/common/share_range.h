// Between what a sampled share lies.
#pragma once

namespace fathom {

struct ShareRange {
  double least = 0;  ///< 0…1
  double most = 0;
};

/// Where a share lies of which `count` samples, at least one, show `share`: with 95 %, binomial
/// (Wilson).
ShareRange share_range(double share, double count);

}  // namespace fathom
