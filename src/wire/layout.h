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
/// Of a string record; its text follows.
inline constexpr std::size_t kStringBytes = sizeof(std::uint32_t);
inline constexpr std::size_t kMaxRecordBody = 0xffff;
/// The longest text that fits in a string record.
inline constexpr std::size_t kMaxText = kMaxRecordBody - kStringBytes;
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
  line,
  frame,
  stack,
  line_run,
  function_part,
  line_part,
  function_calls,
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::function_calls) + 1;

}  // namespace fathom::wire
