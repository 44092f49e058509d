// MadePython: a made CPython 3.12 in a MadeMemory, whose stacks a test builds frame by frame.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sample/layout.h"
#include "sample/made_memory.h"

namespace fathom::sample {

/// One thread whose frames lie in one chunk. Each function has two lines: bytecode 0 to 9 is line
/// 1, bytecode 10 to 19 line 2; its frame takes 96 bytes.
struct MadePython {
  static constexpr Address kThread = 0x10000;
  static constexpr Address kInterpreter = 0x20000;
  static constexpr Address kCframe = 0x30000;
  static constexpr Address kChunk = 0x40000;
  static constexpr Address kObjects = 0x50000;
  static constexpr Address kBottom = kChunk + 32;
  static constexpr std::size_t kFrame = 96;

  MadePython() {
    memory.map(kThread, 4096);
    memory.map(kInterpreter, 4096);
    memory.map(kCframe, 4096);
    memory.map(kChunk, 16384);
    memory.map(kObjects, 65536);
    memory.put<Address>(kThread + layout.thread_interpreter, kInterpreter);
    memory.put<Address>(kThread + layout.thread_frame, kCframe);
    memory.put<Address>(kThread + layout.thread_chunk, kChunk);
    memory.put<std::uint64_t>(kChunk + 8, 16384);
    memory.put<Address>(kObjects + layout.type_name, kObjects + 64);
    memory.put_text(kObjects + 64, "code");
    set_top(kBottom);
  }

  Address text(std::string_view content) {
    const Address at = take(64 + content.size());
    memory.put<std::uint64_t>(at + layout.text_length, content.size());
    // One byte a character, compact, ASCII.
    memory.put<std::uint32_t>(at + layout.text_state, (1U << 2U) | (1U << 5U) | (1U << 6U));
    memory.put_text(at + layout.text_ascii, content);
    return at;
  }
  Address function(std::string_view name) {
    const Address lines = take(64);
    memory.put<std::uint64_t>(lines + layout.object_size, 6);
    constexpr std::array<unsigned char, 6> kLines = {0x80 | (11 << 3) | 4, 0, 0,
                                                     0x80 | (11 << 3) | 4, 0, 0};
    memory.put_bytes(lines + layout.bytes_data, std::as_bytes(std::span(kLines)));
    const Address names = text(name);
    const Address file = text("made.py");
    const Address at = take(512);
    memory.put<Address>(at + layout.object_type, kObjects);
    memory.put<std::uint64_t>(at + layout.object_size, 10);
    memory.put<std::uint32_t>(at + layout.code_frame_words, kFrame / 8);
    memory.put<std::uint32_t>(at + layout.code_first_line, 0);
    memory.put<Address>(at + layout.code_name, names);
    memory.put<Address>(at + layout.code_file, file);
    memory.put<Address>(at + layout.code_lines, lines);
    return at;
  }
  /// A frame at `at`, called by the one at `previous`.
  void frame(Address at, Address code, Address previous, unsigned instruction,
             std::uint8_t owner = 0) {
    memory.put<Address>(at + layout.frame_code, code);
    memory.put<Address>(at + layout.frame_previous, previous);
    memory.put<Address>(at + layout.frame_instruction, code + layout.code_bytecode + instruction);
    memory.put<std::uint8_t>(at + layout.frame_owner, owner);
  }
  /// The height of its stack of values: -1 while it runs by itself.
  void set_height(Address frame, std::int32_t height) {
    memory.put<std::int32_t>(frame + layout.frame_height, height);
  }
  void set_top(Address top) { memory.put<Address>(kThread + layout.thread_chunk + 8, top); }
  void run(Address innermost) { memory.put<Address>(kCframe + layout.cframe_frame, innermost); }
  /// Where the frame number `depth` lies; the first is 0.
  static Address place(std::size_t depth) { return kBottom + depth * kFrame; }

  Layout layout = *known_layout(12);
  MadeMemory memory;

 private:
  Address take(std::size_t size) {
    const Address at = next_;
    next_ += (size + 15) / 16 * 16;
    return at;
  }
  Address next_ = kObjects + 1024;
};

}  // namespace fathom::sample
