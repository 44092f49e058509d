// Inflating gzip while reading it.
#pragma once

#include <memory>
#include <span>

#include "base/byte_source.h"

namespace fathom {

/// True if the bytes start as a gzip file does.
bool looks_like_gzip(std::span<const std::byte> head);

/// The contents of a gzip stream of one or more members, checksums verified. Owns `raw`.
/// Zero padding after the last member is ignored; other bytes there are ignored and named by
/// damage().
Result<std::unique_ptr<ByteSource>> open_gzip(std::unique_ptr<ByteSource> raw);

}  // namespace fathom
