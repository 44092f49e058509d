// Writes a Python function of a stack as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "base/json_writer.h"
#include "sample/process_look.h"

namespace fathom::cli {

/// "train.py:24", or "train.py" where the line is not known.
std::string place_text(const sample::FrameLook& frame);

/// The member "frames", in the order that they are given.
void write_frames(JsonWriter& json, std::span<const sample::FrameLook> frames,
                  const JsonLayout& layout);

}  // namespace fathom::cli
