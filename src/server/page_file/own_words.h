// The words of the program's own texts: what a redacted page may say.
#pragma once

#include <span>
#include <string_view>

namespace fathom::server {

/// Sorted. Made by tools/embed_words of the texts in src/.
std::span<const std::string_view> own_words();

}  // namespace fathom::server
