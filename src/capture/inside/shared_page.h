// SharedPage: memory by which the parts of Fathom in one process know open steps and ranges.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::inside {

/// Who counts steps or knows ranges opens and closes it, so that what knows none can go by it. The
/// parts are linked into several libraries of a program and know no symbol of each other: a page
/// is memory with a name, which the list of the process' mappings shows.
class SharedPage {
 public:
  /// Opens what is closed and closes what is open. CLOCK_MONOTONIC; INT64_MIN: since ever.
  /// One at a time.
  void turn(std::int64_t time) noexcept;
  /// Whether it was open at that time. Thread-safe.
  [[nodiscard]] bool open_at(std::int64_t time) const noexcept;

 private:
  /// Two each step, for half a million steps. Memory that was not used yet is none.
  static constexpr std::size_t kMost = (std::size_t{1} << 20) - 1;
  std::atomic<std::uint64_t> count_{0};
  std::int64_t times_[kMost] = {};
};

/// A new one of this process, closed; null where the system has no memory. Never freed. One that is
/// not shown is for who made it.
SharedPage* make_shared_page(bool shown = true) noexcept;
/// Those of this process that are shown, its other libraries' too. Reads a file of some thousand
/// lines.
std::vector<const SharedPage*> shared_pages();

}  // namespace fathom::inside
