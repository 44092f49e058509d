// Spans: ranges that are noted down when they are over.
#pragma once

#include <cstdint>

#include "capture/inside/details.h"

namespace fathom::inside {

/// Texts are permanent. `details` may be null; they come with 64 bits of payload.
struct Span {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  const char* name = "";
  const char* category = "";
  std::int64_t value = -1;
  const Details* details = nullptr;
  std::uint64_t payload = 0;
};

/// Notes it down for the calling thread, where something is recorded.
void note(const Span& span) noexcept;
/// A begin or instant of now, with details. Its time, 0 where nothing is recorded.
std::uint64_t note_begin(const char* name, const Details* details, std::uint64_t payload) noexcept;
void note_instant(const char* name, const Details* details, std::uint64_t payload) noexcept;

/// A step ends and the next one begins.
void mark_step(std::uint64_t now) noexcept;

}  // namespace fathom::inside
