// Bytes as the payload of a sound block of a capture file.
#pragma once

#include <string>
#include <string_view>

#include "base/crc32.h"
#include "wire/block.h"

namespace fathom {

/// Fuzzed bytes rarely have a right sum: as the payload of a block they are looked into.
inline std::string as_block(std::string_view payload) {
  std::string bytes(wire::kMagic.size() + wire::kHeaderBytes, '\0');
  bytes += payload;
  wire::Packer(bytes.data() + wire::kMagic.size() + wire::kCheckedFrom)
      << wire::kRecordsBlock << std::uint16_t{0} << std::uint64_t{0};
  const std::string_view summed =
      std::string_view(bytes).substr(wire::kMagic.size() + wire::kCheckedFrom);
  wire::Packer(bytes.data() + wire::kMagic.size())
      << wire::kSync << static_cast<std::uint32_t>(payload.size()) << crc32(summed);
  bytes.replace(0, wire::kMagic.size(), wire::kMagic);
  return bytes;
}

}  // namespace fathom
