// Which parts of a profile of functions or lines are selected, and what is to be said of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// A profile is divided by the steps of the run. A part belongs to the step whose number it has,
/// and where it begins.
class ProfileParts {
 public:
  explicit ProfileParts(const Context& context);

  /// Whether steps or a window are selected, so that only parts of the profile are.
  [[nodiscard]] bool divided() const { return steps_ || window_; }
  [[nodiscard]] bool selects(Interval when, std::int64_t step) const;

  /// Calls visit(time) for the rows that are selected: of the whole run the sums, and of processes
  /// that left none, as those that were killed, their parts.
  template <typename Time, typename Part, typename Visit>
  void each(const std::vector<Time>& sums, const std::vector<Part>& parts, const Visit& visit) {
    std::set<std::int64_t> complete;
    if (!divided()) {
      for (const Time& time : sums) {
        complete.insert(time.pid);
        visit(time);
      }
    }
    for (const Part& part : parts) {
      if (divided() ? !selects(part.when, part.step) : complete.contains(part.time.pid)) continue;
      if (!divided()) left_alone_ = true;
      if (part.step != kAbsent) found_.insert(part.step);
      visit(part.time);
    }
  }

  /// Says what the rows that each() visited are of. `what` is "Calls and times", or the like.
  void note(std::string_view what, std::vector<std::string>& notes) const;

 private:
  const Context& context_;
  bool steps_ = false;
  bool window_ = false;
  Interval windows_{};            ///< The selected window.
  bool left_alone_ = false;       ///< Parts of a process without sums were used.
  std::set<std::int64_t> found_;  ///< Steps of the parts that were used.
};

}  // namespace fathom
