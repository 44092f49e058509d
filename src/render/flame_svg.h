// A flame graph of a table of stacks.
#pragma once

#include <string>

#include "engine/session.h"

namespace fathom {

/// A self-contained SVG: a frame below the one that it was called by, as wide as its time, the
/// widest first. `view` shows all columns and rows of a table for which has_stacks() holds; its
/// first column of time counts. Frames that are too thin to be seen are left out, not their time.
std::string render_flame_svg(const View& view);

}  // namespace fathom
