// A table as HTML, for notebooks.
#pragma once

#include <cstddef>
#include <string>

#include "engine/session.h"

namespace fathom {

/// `<table>` with the first `most_rows` rows, and the notes; it stands alone, without scripts and
/// styles of a page. Columns that only `--wide` shows, and those without any value, are left out.
std::string render_table_html(const View& view, std::size_t most_rows);

}  // namespace fathom
