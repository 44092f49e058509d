// Walks over the blocks of tiles; docs/view.md has the layout.
#include "server/page_file/tile_bytes.h"

#include <algorithm>
#include <cstring>

namespace fathom::server {
namespace {

constexpr std::string_view kMagic = "FTT1";
constexpr std::uint32_t kSeveral = 0xffffffff;

std::uint32_t word(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

void TileBytes::add(std::string_view answer) {
  if (!answer.starts_with(kMagic)) return;
  const std::uint32_t blocks = word(answer, kMagic.size());
  std::size_t at = 2 * sizeof(std::uint32_t);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::size_t lanes = word(answer, at + 4);
    const std::size_t boxes = word(answer, at + 8);
    const std::size_t column = padded(boxes * 4);
    const std::size_t size = 16 + lanes * 8 + 4 * column + padded(boxes * 2) + 2 * padded(boxes);
    if (boxes > 0) {
      body_ += answer.substr(at, size);
      ++blocks_;
      tracks_.push_back(word(answer, at));
    }
    const std::size_t slices = at + 16 + lanes * 8 + 2 * column;
    for (std::size_t box = 0; box < boxes; ++box) {
      names_.insert(word(answer, slices + column + 4 * box));
      merged_ = merged_ || word(answer, slices + 4 * box) == kSeveral;
    }
    at += size;
  }
}

std::string TileBytes::bytes() const {
  std::string all(kMagic);
  all.append(reinterpret_cast<const char*>(&blocks_), sizeof blocks_);
  return all + body_;
}

}  // namespace fathom::server
