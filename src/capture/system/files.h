// Small files: /proc, /sys, and what the launcher writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::capture {

/// At most a mebibyte of a file; nothing where it cannot be read.
std::optional<std::string> read_small(const std::string& path);
/// The same without the line break at its end; "" where it cannot be read.
std::string read_line(const std::string& path);

/// Puts the text into the file as a whole: readers see the old one or the new one. Errors: io.
Result<void> replace_file(const std::string& path, std::string_view text);

/// What follows "key:" on its line, trimmed; "" where there is no such line.
std::string field_of(std::string_view text, std::string_view key);

/// Without blanks and line breaks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace fathom::capture
