// Reads the offsets that CPython 3.13 and 3.14 carry in themselves (_Py_DebugOffsets).
#include <array>
#include <cstring>
#include <initializer_list>

#include "sample/layout.h"
#include "sample/memory.h"

namespace fathom::sample {
namespace {

/// Numbers of 8 bytes each; these are their places, as a member of the struct has them. 3.14 has
/// put some in between.
struct Places {
  std::size_t interpreters, interpreter_next, interpreter_threads, interpreter_gil, own_gil;
  std::size_t gil_enabled, gil_locked, gil_holder;
  std::size_t thread_size, thread_next, thread_interpreter, thread_frame, thread_pthread;
  std::size_t thread_native, thread_chunk;
  std::size_t frame_size, frame_previous, frame_code, frame_instruction, frame_locals, frame_owner;
  std::size_t frame_bytecode;  // 0: none
  std::size_t code_size, code_file, code_name, code_lines, code_first_line, code_bytecode;
  std::size_t code_copies;  // 0: none
  std::size_t object_type, type_name, bytes_size, bytes_count, bytes_data;
  std::size_t text_state, text_length, text_ascii;
};

constexpr Places kPlaces13 = {
    .interpreters = 5,
    .interpreter_next = 8,
    .interpreter_threads = 9,
    .interpreter_gil = 14,
    .own_gil = 15,
    .gil_enabled = 16,
    .gil_locked = 17,
    .gil_holder = 18,
    .thread_size = 19,
    .thread_next = 21,
    .thread_interpreter = 22,
    .thread_frame = 23,
    .thread_pthread = 24,
    .thread_native = 25,
    .thread_chunk = 26,
    .frame_size = 28,
    .frame_previous = 29,
    .frame_code = 30,
    .frame_instruction = 31,
    .frame_locals = 32,
    .frame_owner = 33,
    .frame_bytecode = 0,
    .code_size = 34,
    .code_file = 35,
    .code_name = 37,
    .code_lines = 38,
    .code_first_line = 39,
    .code_bytecode = 43,
    .code_copies = 0,
    .object_type = 45,
    .type_name = 47,
    .bytes_size = 64,
    .bytes_count = 65,
    .bytes_data = 66,
    .text_state = 68,
    .text_length = 69,
    .text_ascii = 70,
};

constexpr Places kPlaces14 = {
    .interpreters = 5,
    .interpreter_next = 8,
    .interpreter_threads = 9,
    .interpreter_gil = 15,
    .own_gil = 16,
    .gil_enabled = 17,
    .gil_locked = 18,
    .gil_holder = 19,
    .thread_size = 22,
    .thread_next = 24,
    .thread_interpreter = 25,
    .thread_frame = 26,
    .thread_pthread = 27,
    .thread_native = 28,
    .thread_chunk = 29,
    .frame_size = 31,
    .frame_previous = 32,
    .frame_code = 33,
    .frame_instruction = 34,
    .frame_locals = 35,
    .frame_owner = 36,
    .frame_bytecode = 38,
    .code_size = 39,
    .code_file = 40,
    .code_name = 42,
    .code_lines = 43,
    .code_first_line = 44,
    .code_bytecode = 48,
    .code_copies = 49,
    .object_type = 51,
    .type_name = 53,
    .bytes_size = 74,
    .bytes_count = 75,
    .bytes_data = 76,
    .text_state = 78,
    .text_length = 79,
    .text_ascii = 80,
};

/// No struct of CPython is larger.
constexpr std::uint64_t kMostOffset = std::uint64_t{16} << 20;

/// Takes offsets, and remembers whether one of them cannot be.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint32_t operator()(std::size_t place) {
    const auto value = number_at<std::uint64_t>(bytes_, 8 * place);
    if (value >= kMostOffset) sound_ = false;
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] bool sound() const { return sound_; }

 private:
  std::span<const std::byte> bytes_;
  bool sound_ = true;
};

bool all_below(std::uint32_t size, std::uint32_t limit, std::initializer_list<std::uint32_t> all) {
  if (size == 0 || size > limit) return false;
  for (const std::uint32_t each : all) {
    if (each >= size) return false;
  }
  return true;
}

Layout take(const Places& at, Reader& value, bool free_threaded) {
  Layout layout;
  layout.free_threaded = free_threaded;
  layout.interpreters = value(at.interpreters);
  layout.interpreter_next = value(at.interpreter_next);
  layout.interpreter_threads = value(at.interpreter_threads);
  layout.interpreter_gil = value(at.interpreter_gil);
  const std::uint32_t own = value(at.own_gil);
  layout.gil_holder = value(at.gil_holder) - own;
  layout.gil_locked = value(at.gil_locked) - own;
  if (free_threaded) layout.gil_enabled = value(at.gil_enabled) + 1;
  layout.thread_next = value(at.thread_next);
  layout.thread_interpreter = value(at.thread_interpreter);
  layout.thread_frame = value(at.thread_frame);
  layout.thread_pthread = value(at.thread_pthread);
  layout.thread_native = value(at.thread_native);
  layout.thread_chunk = value(at.thread_chunk);
  layout.frame_previous = value(at.frame_previous);
  layout.frame_code = value(at.frame_code);
  layout.frame_instruction = value(at.frame_instruction);
  layout.frame_locals = value(at.frame_locals);
  layout.frame_owner = value(at.frame_owner);
  // Not named there: in 3.13 it lies between the instruction and the variables.
  if (layout.minor == 13 && layout.frame_locals == layout.frame_instruction + 16)
    layout.frame_height = layout.frame_locals - 8;
  layout.code_file = value(at.code_file);
  layout.code_name = value(at.code_name);
  layout.code_lines = value(at.code_lines);
  layout.code_first_line = value(at.code_first_line);
  layout.code_frame_words = layout.code_first_line + 8;  // not named there; so in all its headers
  layout.code_bytecode = value(at.code_bytecode);
  if (free_threaded && at.frame_bytecode != 0) {
    layout.frame_bytecode = value(at.frame_bytecode);
    layout.code_copies = value(at.code_copies);
  }
  layout.object_type = value(at.object_type);
  layout.object_size = value(at.bytes_count);
  layout.type_name = value(at.type_name);
  layout.bytes_data = value(at.bytes_data);
  layout.text_length = value(at.text_length);
  layout.text_state = value(at.text_state);
  layout.text_ascii = value(at.text_ascii);
  layout.text_wide = layout.text_ascii + 16;
  return layout;
}

}  // namespace

std::optional<Layout> layout_from_offsets(std::span<const std::byte> bytes) {
  constexpr std::size_t kCookie = sizeof kOffsetsCookie - 1;
  if (bytes.size() < kOffsetsBytes || std::memcmp(bytes.data(), kOffsetsCookie, kCookie) != 0)
    return std::nullopt;
  const auto version = number_at<std::uint64_t>(bytes, 8);
  const auto free_threaded = number_at<std::uint64_t>(bytes, 16);
  const int minor = static_cast<int>((version >> 16U) & 0xffU);
  // Between pre-releases the struct has changed: only what is released is known.
  const bool released = (version & 0xf0U) >= 0xc0U;
  if (version >> 24U != 3 || (minor != 13 && minor != 14) || !released || free_threaded > 1)
    return std::nullopt;
  const Places& at = minor == 13 ? kPlaces13 : kPlaces14;
  Reader value(bytes);
  Layout layout = take(at, value, free_threaded == 1);
  layout.minor = minor;
  layout.first_own_owner = 3;
  if (layout.free_threaded && minor == 14) layout.text_state_shift = 8;
  const bool sound =
      value.sound() && layout.gil_holder < 64 && layout.gil_locked < 64 &&
      all_below(value(at.thread_size), 4096,
                {layout.thread_next, layout.thread_interpreter, layout.thread_frame,
                 layout.thread_pthread, layout.thread_native, layout.thread_chunk}) &&
      all_below(value(at.frame_size), 512,
                {layout.frame_previous, layout.frame_code, layout.frame_instruction,
                 layout.frame_owner, layout.frame_bytecode}) &&
      layout.frame_locals <= 512 &&
      // The bytecode may begin within the padding at the end of the struct.
      all_below(value(at.code_size) + 8, 1024,
                {layout.code_file, layout.code_name, layout.code_lines, layout.code_first_line,
                 layout.code_bytecode, layout.code_copies}) &&
      all_below(value(at.bytes_size) + 1, 128,
                {layout.object_type, layout.object_size, layout.bytes_data}) &&
      all_below(layout.text_ascii, 128, {layout.text_length, layout.text_state}) &&
      layout.type_name < 256;
  if (!sound) return std::nullopt;
  return layout;
}

}  // namespace fathom::sample
