// Chooses, among the calls that share a correlation id, the one that started a device activity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/structure/links.h"
#include "store/trace.h"

namespace fathom {

/// What decides between calls: which of them start such an activity, then which is nearest in time.
/// `links.call_kinds` must be filled. Borrows both. Not thread-safe: it keeps its buffers.
class LaunchChoice {
 public:
  LaunchChoice(const Trace& trace, const Links& links) : trace_(trace), links_(links) {}

  /// The calls to choose from and the kind of the activities. O(calls · log calls).
  void prepare(std::span<const SliceId> calls, SliceKind activity);
  /// Of the calls that fit best, the last one that began by then; before all of them, the first. Of
  /// a call within a call (runtime and driver), the outer one, which is what the program called.
  /// There must be calls. O(log calls).
  [[nodiscard]] SliceId for_start(Time at) const;

 private:
  struct Candidate {
    SliceId call;
    Time start;
    SliceId outermost;  ///< Of the candidates around the call, itself included.
  };
  [[nodiscard]] int fitness(SliceId call, SliceKind activity) const;
  void find_outermost();

  const Trace& trace_;
  const Links& links_;
  std::vector<Candidate> candidates_;  // by start, then in the order of the file
};

}  // namespace fathom
