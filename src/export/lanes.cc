// Sorts the slices of each track into the order of begins and ends.
#include "export/lanes.h"

#include <algorithm>

namespace fathom {

TrackOrder::TrackOrder(const Trace& trace, const Chosen& chosen) : first_(trace.tracks.size() + 1) {
  const Slices& slices = trace.slices;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (chosen.slice(row)) ++first_[slices.track[row].row() + 1];
  }
  for (std::size_t track = 1; track < first_.size(); ++track) first_[track] += first_[track - 1];
  order_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (chosen.slice(row))
      order_[next[slices.track[row].row()]++] = static_cast<std::uint32_t>(row);
  }
  const auto before = [&slices](std::uint32_t a, std::uint32_t b) {
    if (slices.start[a] != slices.start[b]) return slices.start[a] < slices.start[b];
    if (slices.duration[a] != slices.duration[b]) return slices.duration[a] > slices.duration[b];
    return a < b;
  };
  for (std::size_t track = 0; track + 1 < first_.size(); ++track) {
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first_[track]);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(first_[track + 1]);
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  }
}

}  // namespace fathom
