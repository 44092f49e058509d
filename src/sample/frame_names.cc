// Looks up what frames show.
#include "sample/frame_names.h"

namespace fathom::sample {

FrameLook look_of(const Frame& frame, const Layout& layout) {
  return {.function = frame.code->name,
          .file = frame.code->file,
          .line = frame.code->line(layout, frame.instruction)};
}

std::uint32_t FrameNames::id(const Frame& frame, const Layout& layout) {
  const auto [at, fresh] = by_instruction_.try_emplace({frame.code, frame.instruction}, 0U);
  if (!fresh) return at->second;
  const std::uint32_t number = id(look_of(frame, layout));
  at->second = number;
  return number;
}

std::uint32_t FrameNames::id(const FrameLook& look) {
  const std::string text =
      look.function + '\0' + look.file + '\0' + std::to_string(look.line.value_or(-1));
  const auto [known, fresh] = by_text_.try_emplace(text, static_cast<std::uint32_t>(looks_.size()));
  if (fresh) looks_.push_back(look);
  return known->second;
}

}  // namespace fathom::sample
