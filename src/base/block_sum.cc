// Four sums that do not wait for each other, 64 bytes at a time.
#include "base/block_sum.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/hash.h"

namespace fathom {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kStride = kLanes * 2 * sizeof(std::uint64_t);
constexpr std::array<std::uint64_t, kLanes> kPrimes = {
    0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL, 0x8ebc6af09c88c6e3ULL, 0x589965cc75374cc3ULL};

[[gnu::no_sanitize_address]] std::uint64_t load(const char* from) {
  std::uint64_t value = 0;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

/// 64×64→128-bit multiply, folded: the mixing step of wyhash (Wang Yi, public domain).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

using Lanes = std::array<std::uint64_t, kLanes>;

/// The rotation keeps what came before where a factor happens to be 0.
[[gnu::no_sanitize_address]] void add(Lanes& lanes, const char* from) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const char* const at = from + lane * 2 * sizeof(std::uint64_t);
    const std::uint64_t first = load(at) ^ kPrimes[lane];
    const std::uint64_t second = load(at + sizeof(std::uint64_t)) ^ lanes[lane];
    lanes[lane] = mix(first, second) ^ std::rotl(lanes[lane], 23);
  }
}

}  // namespace

std::uint64_t block_sum(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  Lanes lanes{};  // unlike the primes: else the two words of a lane could change places
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = hash_mix(bytes, kPrimes[lane]);
  std::size_t left = bytes;
  for (; left >= kStride; left -= kStride, from += kStride) add(lanes, from);
  if (left > 0) {
    std::array<char, kStride> last{};
    std::memcpy(last.data(), from, left);
    add(lanes, last.data());
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t lane : lanes) sum = hash_mix(sum, lane);
  return sum;
}

}  // namespace fathom
