// KeptShares: whose time on the host threads lies before which point, for the next replay of the
// same ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/once.h"
#include "store/trace.h"

namespace fathom {

/// Of one thread. 12 bytes a share, 4 a point.
struct ThreadShares {
  std::vector<SliceId> owners;      ///< Innermost slices, in the order of time.
  std::vector<Duration> times;      ///< Of each owner; none is 0.
  std::vector<std::uint32_t> ends;  ///< By point of all ranges: where its shares end.
};

/// Of all threads of a graph, each computed when it is first asked for. Thread-safe.
class KeptShares {
 public:
  explicit KeptShares(std::size_t threads) : threads_(threads) {}

  template <typename Compute>
  const ThreadShares& of(std::size_t thread, const Compute& compute) {
    Kept& kept = threads_[thread];
    kept.once.call([&] { kept.shares = compute(); });
    return kept.shares;
  }

 private:
  struct Kept {
    Once once;
    ThreadShares shares;
  };

  std::vector<Kept> threads_;
};

}  // namespace fathom
