// Writes frames for dump and sample.
#include "cli/frame_show.h"

namespace fathom::cli {

std::string place_text(const sample::FrameLook& frame) {
  return frame.file + (frame.line ? ":" + std::to_string(*frame.line) : std::string());
}

void write_frames(JsonWriter& json, std::span<const sample::FrameLook> frames,
                  const JsonLayout& layout) {
  json.key("frames").array(layout);
  for (const sample::FrameLook& frame : frames) {
    json.object(kJsonInline)
        .member("function", frame.function)
        .member("file", frame.file)
        .member("line", frame.line)
        .end();
  }
  json.end();
}

}  // namespace fathom::cli
