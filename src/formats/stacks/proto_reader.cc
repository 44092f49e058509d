// Wire types 0, 1, 2 and 5; groups are no longer in use.
#include "formats/stacks/proto_reader.h"

namespace fathom {

bool ProtoReader::take(std::string_view& text, std::uint64_t& value) {
  constexpr unsigned kMostBits = 64;
  value = 0;
  for (unsigned shift = 0; shift < kMostBits; shift += 7) {
    if (text.empty()) return false;
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool ProtoReader::next() {
  number_ = 0;
  bytes_ = {};
  packed_ = false;
  if (rest_.empty() || damaged_) return false;
  std::uint64_t tag = 0;
  if (!take(rest_, tag)) return fail();
  field_ = tag >> 3U;
  std::uint64_t size = 0;
  switch (tag & 7U) {
    case 0:
      return take(rest_, number_) || fail();
    case 1:
      size = 8;
      break;
    case 2:
      if (!take(rest_, size)) return fail();
      packed_ = true;
      break;
    case 5:
      size = 4;
      break;
    default:
      return fail();
  }
  if (size > rest_.size()) return fail();
  if (packed_) bytes_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

}  // namespace fathom
