// Slices of one track in the order in which a stack of begins and ends shows them.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "export/chosen.h"
#include "store/trace.h"

namespace fathom {

/// The chosen slices track by track: by start, the longer first, then in the order of the file.
/// 4 bytes per slice.
class TrackOrder {
 public:
  TrackOrder(const Trace& trace, const Chosen& chosen);
  /// Rows of the slices of one track.
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t track) const {
    return {order_.data() + first_[track], first_[track + 1] - first_[track]};
  }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> first_;
};

/// Lines of one track: a slice lies on the first line on which it nests, or on a line of its own.
/// O(log n) per slice.
class Lanes {
 public:
  explicit Lanes(const Trace& trace) : trace_(trace) {}

  /// The line of the next slice in TrackOrder; on_end(row, line) is called for each slice that ends
  /// there before it begins.
  template <typename OnEnd>
  std::size_t place(std::uint32_t row, const OnEnd& on_end);
  /// Ends all that is open.
  template <typename OnEnd>
  void finish(const OnEnd& on_end);

 private:
  /// Of slices beyond this many lines, none nests in another.
  static constexpr std::size_t kNestedLines = 32;
  struct Single {
    Time end;
    std::uint32_t row;
    std::size_t line;
    bool operator>(const Single& other) const {
      return end != other.end ? end > other.end : line > other.line;
    }
  };
  [[nodiscard]] Time end(std::uint32_t row) const { return trace_.slices.end(SliceId(row)); }

  const Trace& trace_;
  std::vector<std::vector<std::uint32_t>> open_;
  std::priority_queue<Single, std::vector<Single>, std::greater<>> singles_;
  std::size_t lines_ = 0;
};

template <typename OnEnd>
std::size_t Lanes::place(std::uint32_t row, const OnEnd& on_end) {
  const Time start = trace_.slices.start[row];
  for (std::size_t line = 0; line < open_.size(); ++line) {
    std::vector<std::uint32_t>& stack = open_[line];
    for (; !stack.empty() && end(stack.back()) <= start; stack.pop_back())
      on_end(stack.back(), line);
    if (!stack.empty() && end(stack.back()) < end(row)) continue;
    stack.push_back(row);
    return line;
  }
  if (open_.size() < kNestedLines) {
    open_.push_back({row});
    return lines_++;
  }
  std::size_t line = lines_;
  if (!singles_.empty() && singles_.top().end <= start) {
    line = singles_.top().line;
    on_end(singles_.top().row, line);
    singles_.pop();
  } else {
    ++lines_;
  }
  singles_.push({end(row), row, line});
  return line;
}

template <typename OnEnd>
void Lanes::finish(const OnEnd& on_end) {
  for (std::size_t line = 0; line < open_.size(); ++line) {
    for (; !open_[line].empty(); open_[line].pop_back()) on_end(open_[line].back(), line);
  }
  for (; !singles_.empty(); singles_.pop()) on_end(singles_.top().row, singles_.top().line);
}

}  // namespace fathom
