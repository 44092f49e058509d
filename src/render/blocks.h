// Rows grouped under section headings: the look of overview, health and info.
#pragma once

#include <string>

#include "engine/session.h"
#include "render/style.h"

namespace fathom {

/// True when the view's first column is `section`.
bool has_sections(const View& view);

/// One block per run of rows with the same section.
std::string render_blocks(const View& view, const Style& style);

}  // namespace fathom
