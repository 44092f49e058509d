// The checksum of a large block of bytes, at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom {

/// 64 bits of all `bytes` and of how many there are. It finds damage: a change goes unnoticed once
/// in 2^64 times. It is no proof against somebody who chooses the change. Whole strides of 64 bytes
/// may hold what no object owns, such as the gaps between constants: the address sanitizer is
/// silent about them.
std::uint64_t block_sum(const void* data, std::size_t bytes);

}  // namespace fathom
