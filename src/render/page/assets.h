// Style and script of the diagnosis page. Nothing is loaded from elsewhere.
#pragma once

#include <string_view>

namespace fathom::page {

std::string_view style();
std::string_view script();

}  // namespace fathom::page
