// LineProfile: the statements of one thread: how often each began, and for how long it was open.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/line_table.h"
#include "capture/python/line_timeline.h"
#include "capture/python/ticks.h"

namespace fathom::python {

/// A statement as this thread ran it. Times are in ticks.
struct StatementSums {
  std::uint64_t hits = 0;
  std::int64_t self = 0;    ///< Without what recorded functions that it called took.
  std::int64_t total = 0;   ///< With all that it called, of the outermost of a recursion.
  std::uint32_t depth = 0;  ///< How often it is open.
  bool is_long = false;     ///< It lies on several lines, whose events are not all beginnings.
};

/// What a statement took in all parts of the run that have ended, and in one of them; times in ns.
struct FoldedSums {
  std::uint64_t hits = 0;
  std::int64_t self = 0;
  std::int64_t total = 0;
  [[nodiscard]] bool empty() const { return hits == 0 && self == 0 && total == 0; }
};

/// A code object as this thread ran it.
struct ThreadCode {
  const void* key = nullptr;
  const LineTable* table = nullptr;
  StatementSums* sums = nullptr;  ///< From statement 0, which stands for no line.
  FoldedSums* folded = nullptr;   ///< The same of the parts of the run before this one.
  ThreadCode* latest = nullptr;   ///< What it called last.
  ThreadCode* next = nullptr;     ///< In the same slot.
};

/// Frames that are open, each with its statement. Nothing throws; where there is no memory, lines
/// count for `lost()`. Used by one thread at a time.
class LineProfile {
 public:
  /// A frame begins, or goes on in the middle of a statement, else 0.
  void enter(const LineTable& table, Statement goes_on, std::uint64_t now);
  /// A line begins in the frame of that code.
  void line(const void* key, long line, std::uint64_t now) {
    if (depth_ == 0 || unpushed_ > 0 || stack_[depth_ - 1].code->key != key) {
      if (!find_frame(key, now)) return;
    }
    Frame& frame = stack_[depth_ - 1];
    const Statement statement = frame.code->table->at_line(line);
    begin(frame, statement, now);
    if (LineTimeline::is_on()) timeline_.change(frame.code->table, statement, now);
  }
  /// The frame ends, or rests.
  void leave(const void* key, std::uint64_t now);

  /// Times up to now are in the sums, of what is open too.
  void settle(std::uint64_t now);
  /// A part of the run ends: calls on_part(ThreadCode, statement, FoldedSums) for each statement
  /// that took anything in it. What is folded is the sum of all parts, to the nanosecond.
  template <typename OnPart>
  void fold(std::uint64_t now, double ns_per_tick, OnPart on_part);
  /// All sums are 0; what is open stays open, and its time counts from now.
  void clear(std::uint64_t now);
  /// What is folded is 0, as are losses; the part of the run that has not ended stays.
  void forget_folded();
  /// The thread is gone, and another one goes on with the sums.
  void abandon();

  /// Which thread it is, by the system's number.
  void belongs_to(std::int64_t tid) { timeline_.belongs_to(tid); }
  /// The timeline begins anew, with what is open.
  void begin_timeline(std::uint64_t now);
  [[nodiscard]] LineTimeline& timeline() { return timeline_; }

  /// Visits each code object that ran.
  template <typename OnCode>
  void visit(OnCode on_code) const {
    for (const ThreadCode* head : codes_)
      for (const ThreadCode* each = head; each != nullptr; each = each->next) on_code(*each);
  }
  /// Lines that memory did not suffice for.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  /// Frames that went on or ended where others were open, as where greenlets switch.
  [[nodiscard]] std::uint64_t unmatched() const { return unmatched_; }

 private:
  struct Frame {
    ThreadCode* code = nullptr;
    StatementSums* open = nullptr;
    bool outer = false;  ///< Nobody further out is in this statement.
    std::uint64_t entered = 0;
    std::uint64_t begin = 0;
    std::int64_t callees = 0;
  };
  static constexpr std::size_t kHeads = 256;

  static std::int64_t between(std::uint64_t begin, std::uint64_t end) {
    // Counters of two processors may differ by a few ticks.
    return end > begin ? static_cast<std::int64_t>(end - begin) : 0;
  }
  static void open(Frame& frame, StatementSums& sums, std::uint64_t now) {
    frame.open = &sums;
    frame.outer = sums.depth++ == 0;
    frame.begin = now;
    frame.callees = 0;
  }
  static void close(Frame& frame, std::uint64_t now) {
    StatementSums& sums = *frame.open;
    const std::int64_t spent = between(frame.begin, now);
    sums.self += spent - frame.callees;
    --sums.depth;
    if (frame.outer) sums.total += spent;
  }
  static void begin(Frame& frame, Statement statement, std::uint64_t now) {
    StatementSums& sums = frame.code->sums[statement];
    const bool begins = &sums != frame.open || !sums.is_long;
    close(frame, now);
    sums.hits += static_cast<std::uint64_t>(begins);
    open(frame, sums, now);
  }
  /// The thread is where its innermost frame is.
  void show_innermost(std::uint64_t now);
  void pop(std::uint64_t now);
  bool find_frame(const void* key, std::uint64_t now);
  bool unwind_to(const void* key, std::uint64_t now);
  ThreadCode* code_of(const LineTable& table);
  bool grow_stack();

  Frame* stack_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t room_ = 0;
  std::size_t unpushed_ = 0;  // open beyond the room of the stack, or without a place for sums
  ThreadCode* codes_[kHeads] = {};
  ThreadCode* latest_ = nullptr;
  std::uint64_t lost_ = 0;
  std::uint64_t unmatched_ = 0;
  LineTimeline timeline_;
};

template <typename OnPart>
void LineProfile::fold(std::uint64_t now, double ns_per_tick, OnPart on_part) {
  settle(now);
  visit([ns_per_tick, &on_part](const ThreadCode& code) {
    for (unsigned at = 1; at <= code.table->statements; ++at) {
      StatementSums& sums = code.sums[at];
      if (sums.hits == 0 && sums.self == 0 && sums.total == 0) continue;
      const FoldedSums part{sums.hits, take_ns(sums.self, ns_per_tick),
                            take_ns(sums.total, ns_per_tick)};
      sums.hits = 0;
      if (part.empty()) continue;
      FoldedSums& folded = code.folded[at];
      folded.hits += part.hits;
      folded.self += part.self;
      folded.total += part.total;
      on_part(code, at, part);
    }
  });
}

}  // namespace fathom::python
