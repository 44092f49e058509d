// Mixes numbers into a hash.
#pragma once

#include <cstdint>

namespace fathom {

/// Mixes `value` into `seed` (the finaliser of splitmix64, public domain).
inline std::uint64_t hash_mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t z = (seed ^ value) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace fathom
