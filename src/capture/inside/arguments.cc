// Turns arguments of events into texts, in the thread that writes.
#include "capture/inside/arguments.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace fathom::inside {
namespace {

std::string_view text_of(PayloadKind kind, std::uint64_t payload, std::span<char> room) {
  char* const end = room.data() + room.size();
  std::to_chars_result done{room.data(), {}};
  switch (kind) {
    case PayloadKind::none:
      return {};
    case PayloadKind::integer:
      done = std::to_chars(room.data(), end, static_cast<std::int64_t>(payload));
      break;
    case PayloadKind::whole:
      done = std::to_chars(room.data(), end, payload);
      break;
    case PayloadKind::real:
      done = std::to_chars(room.data(), end, std::bit_cast<double>(payload));
      break;
  }
  return {room.data(), static_cast<std::size_t>(done.ptr - room.data())};
}

}  // namespace

Arguments::Arguments(const Details* details, std::uint64_t payload) {
  if (details == nullptr) return;
  const auto add = [&](std::string_view key, std::string_view value) {
    all_[count_++] = {key, value};
  };
  if (details->domain != nullptr) add("domain", details->domain);
  if (details->category != nullptr) add("category", details->category);
  if (details->colored) {
    const int size = std::snprintf(color_.data(), color_.size(), "#%08x", details->color);
    add("color", {color_.data(), static_cast<std::size_t>(size)});
  }
  if (details->payload != PayloadKind::none)
    add("payload", text_of(details->payload, payload, number_));
}

}  // namespace fathom::inside
