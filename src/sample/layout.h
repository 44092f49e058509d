// Where CPython keeps what a stack is made of: one row per version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fathom::sample {

/// The form of a code object's table of lines.
enum class LineTable : std::uint8_t {
  lnotab,     ///< 3.8, 3.9: increments of address and line.
  ranges,     ///< 3.10: PEP 626.
  locations,  ///< From 3.11 on.
};

/// How a thread leads to its innermost frame.
enum class FrameLink : std::uint8_t {
  object,  ///< To 3.10: a list of frame objects on the heap.
  cframe,  ///< 3.11, 3.12: by a record on the C stack.
  direct,  ///< From 3.13 on.
};

/// Offsets in bytes. They are equal on all 64-bit machines.
struct Layout {
  int minor = 0;
  bool free_threaded = false;
  FrameLink link = FrameLink::direct;
  LineTable lines = LineTable::locations;

  std::uint32_t interpreters = 0;      ///< Of the runtime: the first interpreter.
  std::uint32_t runtime_gil = 0;       ///< Of the runtime: its GIL, to 3.11; else 0.
  std::uint32_t interpreter_gil = 0;   ///< Of an interpreter: where its GIL lies, from 3.12 on.
  std::uint32_t gil_holder = 8;        ///< Of a GIL: the thread that has or had it last,
  std::uint32_t gil_locked = 16;       ///< and whether it has it.
  std::uint32_t gil_enabled = 0;       ///< Of a GIL of a free-threaded build, plus one; else 0.
  std::uint32_t interpreter_next = 0;  ///< Of an interpreter.
  std::uint32_t interpreter_threads = 0;

  std::uint32_t thread_next = 8;  ///< Of a thread.
  std::uint32_t thread_interpreter = 16;
  std::uint32_t thread_frame = 0;  ///< The frame, or what leads to it.
  std::uint32_t cframe_frame = 0;  ///< Of a cframe.
  std::uint32_t cframe_previous = 0;
  std::uint32_t thread_pthread = 0;
  std::uint32_t thread_native = 0;  ///< 0 where there is none.
  std::uint32_t thread_chunk = 0;   ///< The chunk that frames lie in; 0 where they lie on the heap.

  std::uint32_t frame_code = 0;
  std::uint32_t frame_previous = 0;
  std::uint32_t frame_instruction = 0;  ///< To 3.10 an index, else an address.
  std::uint32_t frame_owner = 0;        ///< 0 where there is none.
  std::uint32_t frame_entry = 0;        ///< Of 3.11: whether C code called it; else 0.
  std::uint32_t frame_running = 0;      ///< To 3.10: a byte that says whether it runs.
  std::uint8_t running = 0;             ///< What stands there while it does.
  std::uint32_t frame_locals = 0;       ///< Where its local variables begin.
  /// Where a number says how high its stack of values is while a function runs that it called
  /// without C code in between, and -1 while it runs itself; 0 where there is none.
  std::uint32_t frame_height = 0;
  std::uint32_t frame_bytecode = 0;  ///< Which copy of the bytecode it runs; 0: there is one.

  std::uint32_t code_file = 0;
  std::uint32_t code_name = 0;
  std::uint32_t code_first_line = 0;
  std::uint32_t code_frame_words = 0;  ///< How much its frame takes in a chunk; 3.11 has the parts.
  std::uint32_t code_stack_words = 0;  ///< Of 3.11: added to it, with what precedes the variables.
  std::uint32_t code_lines = 0;
  std::uint32_t code_bytecode = 0;  ///< To 3.10 a bytes object, else its start.
  std::uint32_t code_copies = 0;    ///< Copies of the bytecode; 0: there are none.

  std::uint32_t object_type = 8;
  std::uint32_t object_size = 16;  ///< Of an object of variable size.
  std::uint32_t type_name = 24;
  std::uint32_t bytes_data = 32;
  std::uint32_t text_length = 16;
  std::uint32_t text_state = 32;
  std::uint32_t text_state_shift = 2;  ///< Bits before the kind.
  std::uint32_t text_ascii = 48;       ///< Where the characters of an ASCII text begin,
  std::uint32_t text_wide = 72;        ///< and those of another.

  /// Frames of an owner from this number on are the interpreter's own.
  std::uint8_t first_own_owner = 255;

  [[nodiscard]] bool on_heap() const { return link == FrameLink::object; }
};

/// Of CPython 3.8 to 3.12, from their headers; nothing for another.
std::optional<Layout> known_layout(int minor);

/// From 3.13 on CPython carries its offsets at the start of its runtime, behind this.
inline constexpr char kOffsetsCookie[] = "xdebugpy";
/// As many bytes as are looked at.
inline constexpr std::size_t kOffsetsBytes = 1024;

/// What the bytes at the start of the runtime say; nothing where they are not those of CPython 3.13
/// or 3.14, or what they say cannot be.
std::optional<Layout> layout_from_offsets(std::span<const std::byte> bytes);

}  // namespace fathom::sample
