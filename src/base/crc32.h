// The checksum of gzip, zip and PNG.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

/// CRC-32 (ISO-HDLC, polynomial 0xEDB88320), as zlib's crc32() computes it.
std::uint32_t crc32(std::string_view bytes);

}  // namespace fathom
