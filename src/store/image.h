// The image of a trace: one file that holds its columns as they lie in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "store/trace.h"

namespace fathom {

/// Longest key of an image, in bytes.
inline constexpr std::size_t kImageKeyBytes = 256;

/// About how long the image of a trace is.
std::uint64_t image_bytes(const Trace& trace);

/// Writes `trace` to an empty file that can be written and positioned. `key` says what the image is
/// of and which build of the program wrote it: the layout is that of the build's memory, and no
/// other may read it. Not synchronised: what a crash leaves half written does not pass
/// read_image(). Errors: io; unsupported for a text of 4 GiB or a key that is too long.
Result<void> write_image(int file, std::string_view key, const Trace& trace);

/// The trace of an image, whose large columns are pages of the file: it must not be written to
/// while the trace lives, but may be removed. None where the file is not whole, is damaged anywhere
/// (each byte is in a sum), holds a number that leads out of its table, or has another key. Throws
/// OutOfMemory.
std::optional<Trace> read_image(int file, std::string_view key);

}  // namespace fathom
