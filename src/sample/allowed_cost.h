// The processor time that looking may have taken by now.
#pragma once

#include <cstdint>

namespace fathom::sample {

/// ns, when it has gone on for `time` ns and may take `share` of a processor. At the start, when
/// Python is found and tables of symbols are read, it may take 50 ms at once. These are made up for
/// within 10 s: from then on all of it is within the share.
std::int64_t allowed_cost(double share, std::int64_t time);

}  // namespace fathom::sample
