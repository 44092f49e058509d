// The usual steps as windows, into which stretches of time are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/structure/steps.h"

namespace fathom {

/// The windows of steps. Those of one process are disjoint and in order; several processes of one
/// file may overlap, and a stretch then counts in each, as the lengths of the steps do.
class StepWindows {
 public:
  explicit StepWindows(std::span<const Step* const> steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool starts = i == 0 || steps[i]->process != steps[i - 1]->process ||
                          steps[i]->window.begin < steps[i - 1]->window.end;
      if (starts) runs_.push_back(i);
      windows_.push_back(steps[i]->window);
    }
    runs_.push_back(windows_.size());
  }

  /// Calls visit(step, part) for the parts of the stretch in windows.
  template <typename Visit>
  void visit(const Interval& stretch, const Visit& visit) const {
    for (std::size_t run = 0; run + 1 < runs_.size(); ++run) {
      for (std::size_t i = first_after(run, stretch.begin); i < runs_[run + 1]; ++i) {
        if (windows_[i].begin >= stretch.end) break;
        visit(i,
              std::min(windows_[i].end, stretch.end) - std::max(windows_[i].begin, stretch.begin));
      }
    }
  }
  /// The step in whose window the moment lies.
  [[nodiscard]] std::optional<std::size_t> step_at(Time time) const {
    for (std::size_t run = 0; run + 1 < runs_.size(); ++run) {
      const std::size_t i = first_after(run, time);
      if (i < runs_[run + 1] && windows_[i].begin <= time) return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool holds(Time time) const { return step_at(time).has_value(); }

 private:
  /// The first window of a run that ends after the moment.
  [[nodiscard]] std::size_t first_after(std::size_t run, Time time) const {
    const auto begin = windows_.begin() + static_cast<std::ptrdiff_t>(runs_[run]);
    const auto end = windows_.begin() + static_cast<std::ptrdiff_t>(runs_[run + 1]);
    const auto at = std::partition_point(
        begin, end, [time](const Interval& window) { return window.end <= time; });
    return static_cast<std::size_t>(at - windows_.begin());
  }

  std::vector<Interval> windows_;
  std::vector<std::size_t> runs_;  // where the windows of each process begin, and the end
};

}  // namespace fathom
