// Text for terminals that show no more than ASCII.
#pragma once

#include <string>
#include <string_view>

#include "render/style.h"

namespace fathom {

/// `text` as it is, or, where the locale is not UTF-8, with each character beyond ASCII replaced by
/// one of the same width: "µ" by "u", "█" by "#", what is not ours by "?".
std::string in_charset(std::string_view text, const Style& style);

}  // namespace fathom
