// Begins are kept until their ends come, so that most scopes become one record.
#include "capture/inside/converter.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "capture/inside/arguments.h"

namespace fathom::inside {
namespace {

using detail::Event;
using detail::EventKind;

constexpr std::size_t kBatch = 512;
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
  Window& last = windows_.back();
  const bool is_open = last.to == UINT64_MAX;
  if (is_open == (against_ == 0)) return;
  if (board_ != nullptr) board_->turn(ticks == 0 ? INT64_MIN : wire::monotonic_ns());
  if (is_open) {
    last.to = std::max(ticks, last.from);
    ever_open_ = ever_open_ || last.to > last.from;
  } else {
    windows_.push_back({std::max(ticks, last.to), UINT64_MAX});
  }
}

bool Windows::keeps(std::uint64_t ticks) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(windows_, ticks, {}, &Window::from);
  return after != windows_.begin() && ticks < std::prev(after)->to;
}

bool Windows::unlimited() const {
  const std::lock_guard lock(mutex_);
  return windows_.size() == 1 && windows_.back().from == 0 && windows_.back().to == UINT64_MAX;
}

bool Windows::ever_open() const {
  const std::lock_guard lock(mutex_);
  return ever_open_ || windows_.back().to == UINT64_MAX;
}

void Windows::show_on(Board* board) {
  const std::lock_guard lock(mutex_);
  board_ = board;
  if (board_ != nullptr && against_ == 0) board_->turn(INT64_MIN);
}

void Windows::forget_before(std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  const auto first =
      std::ranges::find_if(windows_, [ticks](const Window& window) { return window.to >= ticks; });
  windows_.erase(windows_.begin(), std::min(first, std::prev(windows_.end())));
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
  thread.open.push_back(scope);
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
  const auto* const series = pointer<Series>(event->what);
  const auto [at, added] = counters_.try_emplace(series, 0);
  if (added) at->second = writer_.counter(pid_, -1, series->name, series->unit);
  writer_.sample(time(thread, event->time), at->second, std::bit_cast<double>(event[1].time));
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
  slices_.push_back(slice);
  if (details == nullptr) {
    if (slices_.size() >= kBatch) finish();
    return;
  }
  const Arguments arguments(details, payload);
  slices_.back().arguments = arguments.all();
  finish();
}

void Converter::finish() {
  writer_.slices(slices_);
  slices_.clear();
}

}  // namespace fathom::inside
