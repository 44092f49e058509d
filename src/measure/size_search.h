// At which size one of two begins to cost less: doubling, then bisection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fathom::measure {

/// Chooses sizes to measure, one after the other. Sizes are doubled from the first until the new
/// side costs no more than the base by the median of the pairs' ratios, or the last was measured;
/// then the stretch between is halved until its ends are one apart or, as shares of the size, the
/// resolution. What is found holds if the new side stays so once it is. The median says where to
/// look; certain are sizes whose interval leaves 1 out, and that are judged together.
class SizeSearch {
 public:
  SizeSearch(std::int64_t first, std::int64_t last, double resolution);
  /// The next size; nothing when it is over.
  [[nodiscard]] std::optional<std::int64_t> next() const { return next_; }
  /// Costs of pairs at next(). False where they have no ratio: then it is over. Unless `certain`,
  /// as where clocks of GPUs differ, they say where to look, and nothing for sure.
  bool add(std::span<const double> base, std::span<const double> now, bool certain = true);

  /// How many sizes are still to be measured, next() among them, at most. Unset while they are
  /// doubled: nobody knows how often.
  [[nodiscard]] std::optional<std::size_t> left() const;

  /// The largest size that was measured at which the new side cost more, by the median…
  [[nodiscard]] std::optional<std::int64_t> slower_up_to() const { return slower_; }
  /// … and the smallest at which it did not.
  [[nodiscard]] std::optional<std::int64_t> faster_from() const { return faster_; }
  /// The largest size at which it certainly cost more, at a false discovery rate of 5 % over all
  /// sizes, as their rows are judged…
  [[nodiscard]] std::optional<std::int64_t> surely_slower() const;
  /// … and the smallest at which it certainly cost less.
  [[nodiscard]] std::optional<std::int64_t> surely_faster() const;

 private:
  std::int64_t last_;
  double resolution_;
  std::optional<std::int64_t> next_;
  std::optional<std::int64_t> slower_;
  std::optional<std::int64_t> faster_;
  struct Judged {
    std::int64_t size = 0;
    double p = 1;  ///< Of the sign test.
    bool slower = false;
    bool faster = false;
  };
  std::vector<Judged> judged_;

  /// The sizes of which that holds and is no discovery by chance.
  [[nodiscard]] std::vector<std::int64_t> certain(bool Judged::*which) const;
  [[nodiscard]] std::optional<std::int64_t> after(std::int64_t size) const;
};

}  // namespace fathom::measure
