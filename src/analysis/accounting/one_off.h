// Host work that a program does only once: what is loaded, chosen, compiled or captured on first
// use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/context.h"

namespace fathom {

enum class OneOffKind : std::uint8_t {
  first_call,      ///< The first call of its name: it makes contexts, streams or pools.
  first_launch,    ///< The first launch of a kernel, or what its recorder marks as loading code.
  first_operator,  ///< An operator's first use: libraries start, algorithms are chosen, code is
                   ///< generated.
  compilation,     ///< Ranges and functions of compilers.
  capture,         ///< From the begin of a stream's capture into a graph to its end.
};

struct OneOff {
  SliceId slice{};  ///< The call, operator, range or frame that does it.
  Interval interval{};
  OneOffKind kind = OneOffKind::first_call;
};

/// What was found, and when each thread was at it.
class OneOffWork {
 public:
  OneOffWork() = default;
  /// Finds it. Compilation and capture that go on in later steps are none. O(n log n).
  explicit OneOffWork(const Context& context);

  /// Everything, which may overlap, by kind.
  [[nodiscard]] const std::vector<OneOff>& all() const { return all_; }
  /// Of one thread: sorted, disjoint.
  [[nodiscard]] const std::vector<Interval>& of(TrackId thread) const;

  /// Cuts a stretch of a thread: calls visit(part, whether it is one-off work) in order.
  template <typename Visit>
  void cut(TrackId thread, Interval stretch, const Visit& visit) const {
    const std::vector<Interval>& all = of(thread);
    const auto ended = [&](const Interval& work) { return work.end <= stretch.begin; };
    for (auto work = std::ranges::partition_point(all, ended);
         work != all.end() && work->begin < stretch.end; ++work) {
      if (work->begin > stretch.begin) visit(Interval{stretch.begin, work->begin}, false);
      const Interval inside{std::max(stretch.begin, work->begin), std::min(stretch.end, work->end)};
      visit(inside, true);
      stretch.begin = inside.end;
    }
    if (stretch.begin < stretch.end) visit(stretch, false);
  }

 private:
  std::vector<OneOff> all_;
  std::vector<std::vector<Interval>> by_thread_;
};

}  // namespace fathom
