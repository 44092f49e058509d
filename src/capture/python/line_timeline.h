// LineTimeline: in which statement a thread was, from one change to the next, while that is asked
// for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/line_table.h"

namespace fathom::python {

/// The changes of one thread. Nothing throws; those that there is no room for are counted, and the
/// timeline of the thread ends with the first of them. Used under the interpreter's lock.
class LineTimeline {
 public:
  /// All threads together keep no more than this many changes.
  static constexpr std::size_t kMost = std::size_t{1} << 19U;

  /// A stretch in one statement; times in ticks.
  struct Run {
    const LineTable* table = nullptr;
    Statement statement = 0;
    std::int64_t tid = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// Whether changes are kept, in any thread.
  static bool is_on() { return on; }
  static void turn(bool to) { on = to; }

  /// From `now` on the thread is in that statement: of no table, or 0, in none.
  void change(const LineTable* table, Statement statement, std::uint64_t now) {
    if (tid_ == 0) return;  // a thread that is not recorded
    if (statement == 0) table = nullptr;
    if (table == table_ && statement == statement_) return;
    table_ = table;
    statement_ = statement;
    add(now);
  }
  /// The thread is gone in the middle of a statement, of which nobody knows when it ended.
  void abandon();
  /// Whose changes come next.
  void belongs_to(std::int64_t tid) { tid_ = static_cast<std::int32_t>(tid); }
  /// Nothing is kept.
  void clear();

  /// Calls on_run(Run) for each stretch up to `now`, those without a length left out.
  template <typename OnRun>
  void visit(std::uint64_t now, OnRun on_run) const {
    for (const Chunk* each = first_; each != nullptr; each = each->next) {
      for (std::size_t at = 0; at < each->count; ++at) {
        const Change& change = each->changes[at];
        if (change.table == nullptr) continue;
        const std::uint64_t end = end_of(*each, at, now);
        if (end > change.at)
          on_run(Run{change.table, change.statement, change.tid, change.at, end});
      }
    }
  }
  /// Changes that there was no room for.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Change {
    std::uint64_t at = 0;
    const LineTable* table = nullptr;
    std::int32_t tid = 0;
    Statement statement = 0;
  };
  static_assert(sizeof(Change) == 24, "there are many");
  struct Chunk {
    static constexpr std::size_t kChanges = 1020;
    Chunk* next = nullptr;
    std::size_t count = 0;
    Change changes[kChanges];
  };

  void add(std::uint64_t now) {
    if (left_ == 0 && !grow(now)) return;
    --left_;
    last_->changes[last_->count++] = {now, table_, tid_, statement_};
  }
  bool grow(std::uint64_t now);
  [[nodiscard]] std::uint64_t end_of(const Chunk& chunk, std::size_t at, std::uint64_t now) const;

  // Of the process.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
  static bool on;
  static Chunk* spare;        // memory of cleared ones
  static std::size_t chunks;  // in use
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)

  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::size_t left_ = 0;              // room in the last
  const LineTable* table_ = nullptr;  // of the latest change
  Statement statement_ = 0;
  std::int32_t tid_ = 0;    // 0: of no thread that is recorded
  std::uint64_t full_ = 0;  // when there was no more room; 0: there is
  std::uint64_t lost_ = 0;
};

}  // namespace fathom::python
