// Writes events that take several places in a buffer.
#include "capture/inside/spans.h"

#include <fathom/record.h>

#include "capture/inside/recorder.h"

namespace fathom::inside {

using detail::Event;
using detail::EventKind;
using detail::pack;

void note(const Span& span) noexcept {
  if (!detail::recording()) return;
  const bool detailed = span.details != nullptr;
  const int events = detailed ? 4 : 3;
  detail::Buffer* const buffer = detail::room(events);
  if (buffer == nullptr) return;
  Event* const event = buffer->next.load(std::memory_order_relaxed);
  event[0] = {span.start, pack(detailed ? EventKind::span_detailed : EventKind::span, span.name)};
  event[1] = {span.end, pack(EventKind::begin, span.category)};
  event[2] = {static_cast<std::uint64_t>(span.value), 0};
  if (detailed) event[3] = {span.payload, pack(EventKind::begin, span.details)};
  buffer->next.store(event + events, std::memory_order_release);
}

namespace {

std::uint64_t note_detailed(EventKind kind, const char* name, const Details* details,
                            std::uint64_t payload) {
  detail::Buffer* const buffer = detail::room(2);
  if (buffer == nullptr) return 0;
  Event* const event = buffer->next.load(std::memory_order_relaxed);
  const std::uint64_t now = detail::ticks();
  event[0] = {now, pack(kind, name)};
  event[1] = {payload, pack(EventKind::begin, details)};
  buffer->next.store(event + 2, std::memory_order_release);
  return now;
}

}  // namespace

std::uint64_t note_begin(const char* name, const Details* details, std::uint64_t payload) noexcept {
  const std::uint32_t mode = detail::mode.load(std::memory_order_relaxed);
  if (details == nullptr) return detail::begin(mode, detail::name_bits(name));
  const bool opens = (mode & detail::kWatching) != 0 && Recorder::get().range_begins(name);
  const std::uint64_t begun = note_detailed(EventKind::begin_detailed, name, details, payload);
  if (opens && begun == 0) Recorder::get().range_ends();
  return opens && begun != 0 ? begun | detail::kOpener : begun;
}

void note_instant(const char* name, const Details* details, std::uint64_t payload) noexcept {
  if (details == nullptr) {
    detail::note(EventKind::instant, detail::name_bits(name));
  } else {
    note_detailed(EventKind::instant_detailed, name, details, payload);
  }
}

}  // namespace fathom::inside
