// The digest of a file as text, to compare with another reader's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

/// Reads the file (or standard input for "-") and gives the digest of its tables; docs/formats.md,
/// "Digest".
Result<std::string> digest_text(std::string_view path);

/// Reads the file and calls visit("table: line") for each line behind the digest, until it returns
/// false.
Result<void> for_each_digest_line_of(std::string_view path,
                                     const std::function<bool(std::string_view)>& visit);

/// Reads the file and gives what had to be repaired: "kind count first-byte" per line, none for a
/// sound file.
Result<std::string> repairs_text(std::string_view path);

}  // namespace fathom
