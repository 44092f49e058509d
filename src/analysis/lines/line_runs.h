// In which statement of a Python program each thread was, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// A statement as the name of its runs spells it: "file:line function". Borrows the text.
struct StatementName {
  std::string_view file;
  std::uint32_t first = 0;  ///< Line.
  std::string_view function;
};
StatementName statement_name(std::string_view name);

/// The timeline of lines. Times and names are the trace's.
class LineRuns {
 public:
  struct Run {
    Interval interval{};
    StringId statement{};
  };
  struct Thread {
    std::int64_t pid = kAbsent;
    std::int64_t tid = kAbsent;
    std::vector<Run> runs;  ///< By time, disjoint.
    Duration covered{};     ///< Their sum.

    /// The statement at that moment, or invalid. O(log n).
    [[nodiscard]] StringId at(Time time) const;
    /// Calls visit(Interval, StringId) for the parts of a stretch, an invalid id where there is no
    /// statement. O(log n + parts).
    template <typename Visit>
    void each_part(Interval stretch, const Visit& visit) const {
      for (std::size_t next = first_after(stretch.begin); next < runs.size(); ++next) {
        const Run& run = runs[next];
        if (run.interval.begin >= stretch.end) break;
        const Time begin = std::max(stretch.begin, run.interval.begin);
        const Time end = std::min(stretch.end, run.interval.end);
        if (stretch.begin < begin) visit(Interval{stretch.begin, begin}, StringId());
        if (begin < end) visit(Interval{begin, end}, run.statement);
        stretch.begin = end;
      }
      if (stretch.begin < stretch.end) visit(stretch, StringId());
    }

   private:
    /// The first run that ends after that moment.
    [[nodiscard]] std::size_t first_after(Time time) const;
  };

  /// O(slices + runs * log(runs)).
  explicit LineRuns(const Trace& trace);

  /// Whether there are runs at all.
  [[nodiscard]] static bool recorded(const Trace& trace);
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  /// Those of a host thread, or nullptr. O(1).
  [[nodiscard]] const Thread* of(TrackId track) const { return at(of_track_[track.row()]); }
  /// The thread of the same process that was in statements for the longest time, or nullptr. O(1).
  [[nodiscard]] const Thread* leader_of(TrackId track) const { return at(leaders_[track.row()]); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  [[nodiscard]] const Thread* at(std::uint32_t number) const {
    return number == kNone ? nullptr : &threads_[number];
  }
  void place(const Trace& trace);

  std::vector<Thread> threads_;
  std::vector<std::uint32_t> of_track_;  // by track: of threads_
  std::vector<std::uint32_t> leaders_;   // by track
};

}  // namespace fathom
