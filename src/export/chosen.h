// Chosen: which rows of a trace a selection leaves.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "export/writer.h"

namespace fathom {

/// Answers row by row. Arrows of which one end is left out are left out as a whole.
class Chosen {
 public:
  Chosen(const Trace& trace, const WriteSelection& selection);

  [[nodiscard]] bool slice(std::size_t row) const {
    return all_ || moment(trace_.slices.track[row], trace_.slices.start[row]);
  }
  /// A sample, an instant, an allocator event.
  [[nodiscard]] bool moment(TrackId track, Time time) const {
    return all_ || (in_window(time) && of_device(track));
  }
  [[nodiscard]] bool flow(std::size_t row) const {
    return all_ || !cut_.contains(arrow(trace_.flows.id[row], trace_.flows.category[row]));
  }
  /// One number for an arrow: its id within its category.
  static std::uint64_t arrow(std::int64_t id, StringId category);

 private:
  [[nodiscard]] bool in_window(Time time) const {
    return !selection_.window ||
           (selection_.window->begin <= time && time < selection_.window->end);
  }
  [[nodiscard]] bool of_device(TrackId track) const;

  const Trace& trace_;
  const WriteSelection& selection_;
  bool all_;
  std::unordered_set<std::uint64_t> cut_;
};

}  // namespace fathom
