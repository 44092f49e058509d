// The capture file as bytes: constants and helpers shared by writer and reader (docs/wire.md).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom::wire {

static_assert(std::endian::native == std::endian::little, "the capture file is little-endian");

inline constexpr std::string_view kMagic{"FATHOM\x01\x00", 8};
/// The part of the magic that every version of the format shares.
inline constexpr std::size_t kMagicName = 6;
inline constexpr std::uint32_t kSync = 0x4b4c4246;  ///< "FBLK"
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kCheckedFrom = 12;  ///< The sum covers the header from here on.
inline constexpr std::size_t kMaxPayload = std::size_t{16} << 20;
inline constexpr std::size_t kRecordHeaderBytes = 4;
inline constexpr std::size_t kMaxRecordBody = 0xffff;
/// The longest text that fits in a string record.
inline constexpr std::size_t kMaxText = kMaxRecordBody - sizeof(std::uint32_t);
inline constexpr std::uint16_t kRecordsBlock = 1;

/// Kinds of records, by the number in the file.
enum class Kind : std::uint16_t {
  string = 1,
  clock,
  process,
  thread,
  slice,
  begin,
  end,
  instant,
  counter,
  sample,
  fact,
  exit,
  dropped,
  function,
  argument,
  device,
  launch,
  copy,
  wait,
  call,
  memory,
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::memory) + 1;

/// Bytes of the fixed part of a record's body. Text follows it in a string record; in others,
/// fields of a later version may.
constexpr std::size_t body_bytes(Kind kind) {
  switch (kind) {
    case Kind::string:
      return 4;
    case Kind::clock:
      return 8 + 8 + 4;
    case Kind::process:
      return 8 + 4 + 4 + 4 + 4 + 4;
    case Kind::thread:
      return 4 + 8 + 4;
    case Kind::slice:
      return 8 + 8 + 4 + 8 + 4 + 4 + 8;
    case Kind::begin:
    case Kind::instant:
      return 8 + 4 + 8 + 4 + 4;
    case Kind::end:
      return 8 + 4 + 8;
    case Kind::counter:
      return 4 + 4 + 4 + 4 + 4;
    case Kind::sample:
      return 8 + 4 + 8;
    case Kind::fact:
      return 4 + 4 + 4;
    case Kind::exit:
      return 8 + 4 + 4 + 6 * 8;
    case Kind::dropped:
      return 4 + 8;
    case Kind::function:
      return 4 + 4 + 4 + 4 + 8 + 8 + 8;
    case Kind::argument:
      return 4 + 4;
    case Kind::device:
      return 8 + 8 + 4 + 4 + 4 + 8 + 4 + 4 + 8 + 8 + 8;
    case Kind::launch:
      return 9 * 4 + 3 * 4 + 8;
    case Kind::copy:
      return 8 + 4 + 4 + 4;
    case Kind::wait:
      return 4 + 8 + 8 + 8;
    case Kind::call:
      return 8 + 8 + 4 + 8 + 4 + 4 + 8 + 8;
    case Kind::memory:
      return 8 + 4 + 8 + 4 + 8 + 8 + 8 + 4;
  }
  return 0;
}

}  // namespace fathom::wire
