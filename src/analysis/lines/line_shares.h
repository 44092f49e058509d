// What each statement of a Python program caused: operators, waiting, device time, idle time,
// memory, copies.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "analysis/context.h"

namespace fathom {

/// Every number of the selection is in exactly one share: those of all statements and of none sum
/// to the whole.
struct LineShare {
  Duration host{};       ///< Threads were in it, and in nothing recorded that it called.
  Duration operators{};  ///< In operators that it called, with all that these did on the host.
  Duration backward_operators{};  ///< In those of the backward pass of what it called.
  Duration blocked{};             ///< In its calls that wait for a device.
  Duration awaited{};  ///< Calls of any statement waited while a device did what this one launched.
  Duration device{};   ///< Busy time of devices, of what it launched.
  Duration backward_device{};       ///< Of what the backward pass of its operators launched.
  Duration idle{};                  ///< Devices had nothing to do while the host was in it.
  std::int64_t host_allocated = 0;  ///< Bytes.
  std::int64_t device_allocated = 0;
  std::int64_t host_held = 0;  ///< Bytes, of what was allocated when that was most.
  std::int64_t device_held = 0;
  std::int64_t copied = 0;  ///< Bytes, by copies of a device.

  LineShare& operator+=(const LineShare& other);
  friend bool operator==(const LineShare&, const LineShare&) = default;
};

struct LineShares {
  struct Key {
    std::int64_t pid = kAbsent;
    StringId statement{};  ///< The name of its runs; invalid: no line.
    friend auto operator<=>(const Key& a, const Key& b) {
      return std::pair(a.pid, a.statement.value) <=> std::pair(b.pid, b.statement.value);
    }
    friend bool operator==(const Key&, const Key&) = default;
  };
  bool timeline = false;  ///< Without one all of it is no line's, and `shares` is empty.
  bool devices = false;   ///< Device activity was recorded.
  bool memory = false;    ///< Allocator events were recorded.
  std::map<Key, LineShare> shares;
};

/// Of what is selected. A host slice belongs to the statement that its thread was in when it began,
/// an activity to that of its launch, and what runs inside an operator of the backward pass to that
/// of the forward operator with its sequence number. A thread of the backward pass that ran no
/// statement itself does the rest for the one that the process's leading thread is in.
/// O((slices + activities + events) * log n).
LineShares compute_line_shares(const Context& context);

}  // namespace fathom
