// fathom::counter: a value over time, such as the length of a queue.
#pragma once

#include <cstring>
#include <string_view>

#include "fathom/record.h"

namespace fathom {

/// A series of values of this process:
///
///     static const fathom::counter queue("queue", "batches");
///     queue.set(3);
///
/// Two of one name and unit are the same series. Making one takes a lock; setting it does not.
/// Values that are not finite are not recorded. Any thread may set it.
class counter {  // NOLINT(readability-identifier-naming)
 public:
  /// `unit` as in reports: "bytes", "percent", "count", …
  explicit counter(std::string_view name, std::string_view unit = "count") noexcept;

  void set(double value) const noexcept {
    if (__builtin_expect(!detail::recording(), 1)) return;
    detail::Buffer* const buffer = detail::room(2);
    if (buffer == nullptr) return;
    detail::Event* const event = buffer->next.load(std::memory_order_relaxed);
    event[0] = {detail::ticks(), detail::pack(detail::EventKind::sample, series_)};
    std::memcpy(&event[1].time, &value, sizeof value);
    buffer->next.store(event + 2, std::memory_order_release);
  }

 private:
  const void* series_;
};

}  // namespace fathom
