// Turns events of a thread into records; begins wait for their ends.
#include "capture/inside/converter.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "capture/inside/arguments.h"
#include "capture/inside/attempt.h"

namespace fathom::inside {
namespace {

using detail::Event;
using detail::EventKind;

constexpr std::string_view kAnnotation = "annotation";

EventKind kind_of(const Event& event) {
  return static_cast<EventKind>(event.what >> detail::kKindShift);
}

template <typename T = char>
const T* pointer(std::uint64_t what) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): 16 bytes an event have room for a tagged one only
  return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(what & detail::kWhatMask));
}

/// Events that this one takes, itself included.
std::ptrdiff_t length_of(EventKind kind) {
  switch (kind) {
    case EventKind::begin:
    case EventKind::end:
    case EventKind::instant:
      return 1;
    case EventKind::sample:
    case EventKind::begin_detailed:
    case EventKind::instant_detailed:
      return 2;
    case EventKind::span:
      return 3;
    case EventKind::span_detailed:
      return 4;
  }
  return 1;
}

}  // namespace

void Windows::keep(Reason reason, bool wanted, std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  const auto bit = static_cast<unsigned>(reason);
  against_ = wanted ? against_ & ~bit : against_ | bit;
  const bool is_open = last_.to == UINT64_MAX;
  if (is_open == (against_ == 0)) return;
  if (page_ != nullptr) page_->turn(ticks == 0 ? INT64_MIN : wire::monotonic_ns());
  if (is_open) {
    last_.to = std::max(ticks, last_.from);
    ever_open_ = ever_open_ || last_.to > last_.from;
  } else {
    begin_window(ticks);
  }
}

void Windows::begin_window(std::uint64_t ticks) {
  try {
    earlier_.push_back(last_);
  } catch (...) {
    // Of a vector that has memory, the oldest makes room.
    ++forgotten_;
    if (!earlier_.empty()) {
      earlier_.erase(earlier_.begin());
      earlier_.push_back(last_);
    }
  }
  last_ = {std::max(ticks, last_.to), UINT64_MAX};
}

bool Windows::keeps(std::uint64_t ticks) const {
  const std::lock_guard lock(mutex_);
  if (ticks >= last_.from) return ticks < last_.to;
  const auto after = std::ranges::upper_bound(earlier_, ticks, {}, &Window::from);
  return after != earlier_.begin() && ticks < std::prev(after)->to;
}

bool Windows::unlimited() const {
  const std::lock_guard lock(mutex_);
  return earlier_.empty() && last_.from == 0 && last_.to == UINT64_MAX;
}

bool Windows::ever_open() const {
  const std::lock_guard lock(mutex_);
  return ever_open_ || last_.to == UINT64_MAX;
}

std::uint64_t Windows::take_forgotten() {
  const std::lock_guard lock(mutex_);
  return std::exchange(forgotten_, 0);
}

void Windows::show_on(SharedPage* page) {
  const std::lock_guard lock(mutex_);
  page_ = page;
  if (page_ != nullptr && against_ == 0) page_->turn(INT64_MIN);
}

void Windows::forget_before(std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  const auto first =
      std::ranges::find_if(earlier_, [ticks](const Window& window) { return window.to >= ticks; });
  earlier_.erase(earlier_.begin(), first);
}

void Converter::convert(ThreadState& thread, std::span<const Event> events) {
  const bool unlimited = windows_.unlimited();
  const Event* const end = events.data() + events.size();
  std::ptrdiff_t length = 0;
  for (const Event* event = events.data(); event < end; event += length) {
    length = length_of(kind_of(*event));
    if (end - event < length) return;
    // An end counts where its begin did.
    if (unlimited || kind_of(*event) == EventKind::end || windows_.keeps(event->time))
      one(thread, event);
  }
}

void Converter::one(ThreadState& thread, const Event* event) {
  switch (kind_of(*event)) {
    case EventKind::begin:
      return begin(thread, *event, nullptr);
    case EventKind::begin_detailed:
      return begin(thread, *event, event + 1);
    case EventKind::end:
      return end(thread, *event);
    case EventKind::instant:
      return instant(thread, *event, nullptr);
    case EventKind::instant_detailed:
      return instant(thread, *event, event + 1);
    case EventKind::sample:
      return sample(thread, event);
    case EventKind::span:
      return span(thread, event, nullptr);
    case EventKind::span_detailed:
      return span(thread, event, event + 3);
  }
}

std::int64_t Converter::time(ThreadState& thread, std::uint64_t ticks) {
  thread.last = std::max(thread.last, clock_.monotonic(ticks));
  return thread.last;
}

void Converter::begin(ThreadState& thread, const Event& event, const Event* detailed) {
  OpenScope scope{event.time, time(thread, event.time), pointer(event.what), nullptr, 0, false};
  if (detailed != nullptr) {
    scope.details = pointer<Details>(detailed->what);
    scope.payload = detailed->time;
  }
  // Without it, its end finds no begin.
  attempt([&] { thread.open.push_back(scope); });
}

void Converter::end(ThreadState& thread, const Event& event) {
  const std::uint64_t ticks = event.what & detail::kWhatMask;
  const auto found = std::find_if(
      thread.open.rbegin(), thread.open.rend(),
      [&](const OpenScope& scope) { return (scope.ticks & detail::kWhatMask) == ticks; });
  // Begun before a window of a profile, or before a fork.
  if (found == thread.open.rend()) return;
  const OpenScope scope = *found;
  thread.open.erase(std::next(found).base());
  const std::int64_t now = time(thread, event.time);
  if (scope.written) {
    finish();
    writer_.end(now, pid_, thread.tid);
    return;
  }
  add({scope.time, now - scope.time, pid_, thread.tid, scope.name, kAnnotation, -1, {}},
      scope.details, scope.payload);
}

void Converter::write_open(ThreadState& thread, std::int64_t before) {
  for (OpenScope& scope : thread.open) {
    if (scope.time >= before) return;
    if (scope.written) continue;
    const Arguments arguments(scope.details, scope.payload);
    writer_.begin(scope.time, pid_, thread.tid, scope.name, kAnnotation, arguments.all());
    scope.written = true;
  }
}

void Converter::instant(ThreadState& thread, const Event& event, const Event* detailed) {
  const Arguments arguments(detailed == nullptr ? nullptr : pointer<Details>(detailed->what),
                            detailed == nullptr ? 0 : detailed->time);
  writer_.instant(time(thread, event.time), pid_, thread.tid, pointer(event.what), kAnnotation,
                  arguments.all());
}

void Converter::sample(ThreadState& thread, const Event* event) {
  std::uint32_t counter = 0;
  if (!attempt([&] { counter = counter_of(pointer<Series>(event->what)); })) return;
  writer_.sample(time(thread, event->time), counter, std::bit_cast<double>(event[1].time));
}

std::uint32_t Converter::counter_of(const Series* series) {
  std::uint32_t& counter = counters_[series];
  // 0 also where the writer had no memory for it the last time.
  if (counter == 0) counter = writer_.counter(pid_, -1, series->name, series->unit);
  return counter;
}

void Converter::span(ThreadState& thread, const Event* event, const Event* detailed) {
  // It began whenever; only its end is in order.
  const std::int64_t start = clock_.monotonic(event->time);
  const std::int64_t end = std::max(start, clock_.monotonic(event[1].time));
  const auto value = static_cast<std::int64_t>(event[2].time);
  add({start,
       end - start,
       pid_,
       thread.tid,
       pointer(event->what),
       pointer(event[1].what),
       value,
       {}},
      detailed == nullptr ? nullptr : pointer<Details>(detailed->what),
      detailed == nullptr ? 0 : detailed->time);
}

void Converter::add(const wire::Slice& slice, const Details* details, std::uint64_t payload) {
  wire::Slice& added = slices_[slices_count_++];
  added = slice;
  if (details == nullptr) {
    if (slices_count_ == kBatch) finish();
    return;
  }
  const Arguments arguments(details, payload);
  added.arguments = arguments.all();
  finish();
}

void Converter::finish() {
  writer_.slices(std::span(slices_).first(std::exchange(slices_count_, 0)));
}

}  // namespace fathom::inside
