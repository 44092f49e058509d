// Tables and definitions of the diagnosis page.
#pragma once

#include <string>
#include <vector>

#include "engine/session.h"

namespace fathom::page {

/// A table that a click on a heading sorts; headings link to the definitions below.
std::string table(const View& view);
/// What each term of the glossary, table and column means.
std::string definitions(const std::vector<View>& views);

}  // namespace fathom::page
