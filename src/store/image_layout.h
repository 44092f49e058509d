// How an image lies in its file: a header of one page, then each part on pages of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/block_sum.h"
#include "base/hash.h"
#include "store/image.h"

namespace fathom::image {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kMaxParts = 128;
inline constexpr std::size_t kBlock = std::size_t{1} << 20;  ///< Bytes with a sum of their own.
inline constexpr std::size_t kBehindTexts = 16;              ///< Readable behind the last text.
inline constexpr std::array<char, 8> kMagic = {'F', 'T', 'M', 'i', 'm', 'a', 'g', '3'};

/// Each array of the trace is one, in the order of each_array(); then come the texts behind each
/// other, their lengths, and the details.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t header_sum = 0;  ///< Over this header, with 0 here.
  std::uint64_t data_sum = 0;    ///< Over the sums of all blocks behind the header.
  std::uint64_t file_bytes = 0;
  std::uint32_t parts = 0;
  std::uint32_t key_bytes = 0;
  std::array<char, kImageKeyBytes> key{};
  std::array<Part, kMaxParts> part{};
  std::array<char, 1752> unused{};
};
static_assert(sizeof(Header) == kPage && std::is_trivially_copyable_v<Header>);

constexpr std::size_t page_end(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

inline std::uint64_t sum_of(Header header) {
  header.header_sum = 0;
  return block_sum(&header, sizeof header);
}

/// Adds the sum of the next block to that of those before it.
inline std::uint64_t add_block(std::uint64_t sum, std::uint64_t block) {
  return hash_mix(sum, block);
}

}  // namespace fathom::image
