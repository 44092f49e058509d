// At which size one of two becomes faster: doubling, then bisection.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/claim.h"

namespace fathom::measure {

/// Chooses sizes to measure, one after the other, and knows from the verdicts where the sides
/// change places. Sizes are doubled from `least` until the new side is faster or `most` was
/// measured; then the stretch between is halved until its ends are one apart or the sides are
/// the same or cannot be told apart within it. What is found holds if the new side stays faster
/// once it is.
class SizeSearch {
 public:
  SizeSearch(std::int64_t least, std::int64_t most);
  /// The next size; nothing when it is over.
  [[nodiscard]] std::optional<std::int64_t> next() const { return next_; }
  /// Of the new side at next().
  void add(Verdict verdict);

  /// The new side is faster from here on, as far as was measured.
  [[nodiscard]] std::optional<std::int64_t> faster_from() const { return faster_; }
  /// The largest size below it that was measured and at which it is not known to be faster.
  [[nodiscard]] std::optional<std::int64_t> not_faster_at() const { return not_faster_; }

 private:
  std::int64_t most_;
  std::optional<std::int64_t> next_;
  std::optional<std::int64_t> faster_;
  std::optional<std::int64_t> not_faster_;
  bool halving_ = false;
};

}  // namespace fathom::measure
