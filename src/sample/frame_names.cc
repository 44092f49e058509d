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
  FrameLook look = look_of(frame, layout);
  const std::string text =
      look.function + '\0' + look.file + '\0' + std::to_string(look.line.value_or(-1));
  const auto [known, new_text] =
      by_text_.try_emplace(text, static_cast<std::uint32_t>(looks_.size()));
  if (new_text) looks_.push_back(std::move(look));
  at->second = known->second;
  return known->second;
}

}  // namespace fathom::sample
