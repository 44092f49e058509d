// Where a frame's place begins: "work (app.py:12)".
#pragma once

#include <cstddef>
#include <string_view>

namespace fathom {

/// The blank before the bracket that the last character closes, brackets within it aside: of
/// "(/usr/bin/x (deleted))" and "(a dir (2)/b.py:7)". npos where there is none.
std::size_t last_bracket(std::string_view text);

}  // namespace fathom
