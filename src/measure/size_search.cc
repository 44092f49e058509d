// Doubles, then halves.
#include "measure/size_search.h"

#include <algorithm>

namespace fathom::measure {

SizeSearch::SizeSearch(std::int64_t least, std::int64_t most)
    : most_(std::max(least, most)), next_(least) {}

void SizeSearch::add(Verdict verdict) {
  if (!next_) return;
  const std::int64_t size = *next_;
  const bool faster = verdict == Verdict::faster;
  (faster ? faster_ : not_faster_) = size;
  next_.reset();
  if (!faster && !halving_) {
    if (size < most_) next_ = size > most_ / 2 ? most_ : std::max<std::int64_t>(2 * size, size + 1);
    return;
  }
  halving_ = true;
  // Where neither is slower the places change around here; closer looks would only be noise.
  if (!faster && verdict != Verdict::slower) return;
  if (faster_ && not_faster_ && *faster_ - *not_faster_ > 1)
    next_ = *not_faster_ + (*faster_ - *not_faster_) / 2;
}

}  // namespace fathom::measure
