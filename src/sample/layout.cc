// The layouts of CPython 3.8 to 3.12.
#include "sample/layout.h"

namespace fathom::sample {
namespace {

/// 3.8 to 3.10: frames are objects on the heap.
Layout with_frame_objects(int minor) {
  Layout layout;
  layout.minor = minor;
  layout.link = FrameLink::object;
  layout.lines = LineTable::lnotab;
  layout.interpreters = 32;
  layout.runtime_gil = 352;
  layout.interpreter_next = 0;
  layout.interpreter_threads = 8;
  layout.thread_frame = 24;
  layout.thread_pthread = 176;
  layout.frame_previous = 24;
  layout.frame_code = 32;
  layout.frame_instruction = 104;
  layout.frame_running = 116;
  layout.running = 1;
  layout.code_first_line = 40;
  layout.code_bytecode = 48;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_lines = 120;
  return layout;
}

Layout python_38() {
  Layout layout = with_frame_objects(8);
  layout.runtime_gil = 1152;
  return layout;
}

Layout python_310() {
  Layout layout = with_frame_objects(10);
  layout.lines = LineTable::ranges;
  layout.frame_instruction = 96;
  layout.frame_running = 108;
  layout.running = 0;
  return layout;
}

/// 3.11 and 3.12: frames lie in chunks, and a record on the C stack leads to them.
Layout with_cframes(int minor) {
  Layout layout;
  layout.minor = minor;
  layout.link = FrameLink::cframe;
  layout.interpreters = 40;
  layout.interpreter_next = 0;
  layout.thread_frame = 56;
  layout.frame_instruction = 56;
  layout.frame_height = 64;
  layout.frame_locals = 72;
  layout.code_file = 112;
  layout.code_name = 128;  // the qualified one
  layout.code_lines = 136;
  return layout;
}

Layout python_311() {
  Layout layout = with_cframes(11);
  layout.runtime_gil = 360;
  layout.interpreter_threads = 16;
  layout.cframe_frame = 8;
  layout.cframe_previous = 16;
  layout.thread_pthread = 152;
  layout.thread_native = 160;
  layout.thread_chunk = 296;
  layout.frame_code = 32;
  layout.frame_previous = 48;
  layout.frame_entry = 68;
  layout.frame_owner = 69;
  layout.code_first_line = 72;
  layout.code_frame_words = 76;  // its variables
  layout.code_stack_words = 68;
  layout.code_bytecode = 184;
  return layout;
}

Layout python_312() {
  Layout layout = with_cframes(12);
  layout.interpreter_gil = 384;
  layout.interpreter_threads = 72;
  layout.cframe_frame = 0;
  layout.cframe_previous = 8;
  layout.thread_pthread = 136;
  layout.thread_native = 144;
  layout.thread_chunk = 232;
  layout.frame_code = 0;
  layout.frame_previous = 8;
  layout.frame_owner = 70;
  layout.first_own_owner = 3;
  layout.code_first_line = 68;
  layout.code_frame_words = 76;
  layout.code_bytecode = 192;
  layout.text_ascii = 40;
  layout.text_wide = 56;
  return layout;
}

}  // namespace

std::optional<Layout> known_layout(int minor) {
  switch (minor) {
    case 8:
      return python_38();
    case 9:
      return with_frame_objects(9);
    case 10:
      return python_310();
    case 11:
      return python_311();
    case 12:
      return python_312();
    default:
      return std::nullopt;
  }
}

}  // namespace fathom::sample
