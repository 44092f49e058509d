// What a file that is no trace looks like instead, for the error message.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// Names the kind of file from its first bytes (kSniffBytes are enough), as the end of "this looks
/// like …": "an HTML page". Adds what to do where that is known: "a ZIP archive: unpack it first".
/// Never empty: "binary data" or "plain text" when nothing better is known. `compression` and
/// `damage` are those of the ByteSource that the bytes come from.
std::string looks_like(std::span<const std::byte> head, std::string_view compression = {},
                       std::string_view damage = {});

}  // namespace fathom
