// Tables as text for people.
#pragma once

#include <string>

#include "engine/session.h"
#include "render/style.h"

namespace fathom {

/// The heading, the rows (as a table, or as blocks where the report has a `section` column), what
/// was left out, and the notes. Ends with a newline.
std::string render_text(const View& view, const Style& style);

}  // namespace fathom
