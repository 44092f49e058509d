// CRC-32 through ISA-L, which uses the processor's carry-less multiplication.
#include "base/crc32.h"

#include <isa-l/crc.h>

namespace fathom {

std::uint32_t crc32(std::string_view bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace fathom
