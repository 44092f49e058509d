// What a file that is no trace looks like instead, for the error message.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fathom {

/// Names the kind of file from its first bytes (kSniffBytes are enough), as the end of "this looks
/// like …": "an HTML page". Adds what to do where that is known: "a ZIP archive: unpack it first".
/// Never empty: "binary data" or "plain text" when nothing better is known.
std::string looks_like(std::span<const std::byte> head);

}  // namespace fathom
