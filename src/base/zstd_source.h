// Decompressing Zstandard while reading it.
#pragma once

#include <memory>
#include <span>

#include "base/byte_source.h"

namespace fathom {

/// True if the bytes start as a zstd file does (a frame, or a skippable frame).
bool looks_like_zstd(std::span<const std::byte> head);

/// The contents of a zstd stream of one or more frames, skippable ones skipped. Owns `raw`.
/// Bytes after the last frame are ignored and named by damage().
Result<std::unique_ptr<ByteSource>> open_zstd(std::unique_ptr<ByteSource> raw);

}  // namespace fathom
