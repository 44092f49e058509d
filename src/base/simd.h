// Sixteen bytes compared, masked and read as decimal digits in one step: SSE4.1, NEON, or plain
// C++.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Each version has the same names; fathom::simd is the one for the processor that is compiled for,
// or the plain one where FATHOM_SCALAR is defined.
//   Bytes16            sixteen bytes
//   load(p)            those at p, which need not be aligned
//   filled(c)          sixteen times c
//   a | b, a & b       of all bits
//   equal(a, b)        0xff where both bytes are equal, 0 elsewhere
//   at_most(a, limit)  0xff where the byte of a, unsigned, is at most limit, 0 elsewhere
//   mask_of(flags)     bit i is the highest bit of byte i
//   less(a, c)         a − c in each byte, modulo 256
//   first_eight(a)     the first eight bytes, the first of them lowest
//   decimal(a, count)  the number whose `count` (at most 16) digits, highest first, are the first
//                      bytes of a, each 0…9

namespace fathom::simd_scalar {

struct alignas(16) Bytes16 {
  unsigned char value[16];
};

/// The sixteen results of `compute`, which is called with 0…15.
template <typename Compute>
inline Bytes16 of_each(Compute compute) {
  Bytes16 result;
  for (unsigned i = 0; i < 16; ++i) result.value[i] = static_cast<unsigned char>(compute(i));
  return result;
}

inline Bytes16 load(const char* p) {
  Bytes16 result;
  std::memcpy(result.value, p, sizeof result.value);
  return result;
}
inline Bytes16 filled(char c) {
  return of_each([c](unsigned) { return c; });
}
inline Bytes16 operator|(const Bytes16& a, const Bytes16& b) {
  return of_each([&](unsigned i) { return a.value[i] | b.value[i]; });
}
inline Bytes16 operator&(const Bytes16& a, const Bytes16& b) {
  return of_each([&](unsigned i) { return a.value[i] & b.value[i]; });
}
inline Bytes16 equal(const Bytes16& a, const Bytes16& b) {
  return of_each([&](unsigned i) { return a.value[i] == b.value[i] ? 0xff : 0; });
}
inline Bytes16 at_most(const Bytes16& a, unsigned char limit) {
  return of_each([&](unsigned i) { return a.value[i] <= limit ? 0xff : 0; });
}
inline unsigned mask_of(const Bytes16& flags) {
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; ++i) mask |= static_cast<unsigned>(flags.value[i] >> 7U) << i;
  return mask;
}
inline Bytes16 less(const Bytes16& a, char c) {
  return of_each([&](unsigned i) { return a.value[i] - static_cast<unsigned char>(c); });
}
inline std::uint64_t first_eight(const Bytes16& a) {
  std::uint64_t result = 0;
  for (unsigned i = 8; i-- > 0;) result = result << 8U | a.value[i];
  return result;
}
inline std::uint64_t decimal(const Bytes16& a, unsigned count) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < count; ++i) result = result * 10 + a.value[i];
  return result;
}

}  // namespace fathom::simd_scalar

#if defined(__SSE4_1__)
namespace fathom::simd_sse {

struct Bytes16 {
  __m128i value;
};

inline Bytes16 load(const char* p) {
  return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
}
inline Bytes16 filled(char c) { return {_mm_set1_epi8(c)}; }
inline Bytes16 operator|(Bytes16 a, Bytes16 b) { return {_mm_or_si128(a.value, b.value)}; }
inline Bytes16 operator&(Bytes16 a, Bytes16 b) { return {_mm_and_si128(a.value, b.value)}; }
inline Bytes16 equal(Bytes16 a, Bytes16 b) { return {_mm_cmpeq_epi8(a.value, b.value)}; }
inline Bytes16 at_most(Bytes16 a, unsigned char limit) {
  const __m128i limits = _mm_set1_epi8(static_cast<char>(limit));
  return {_mm_cmpeq_epi8(_mm_min_epu8(a.value, limits), a.value)};
}
inline unsigned mask_of(Bytes16 flags) {
  return static_cast<unsigned>(_mm_movemask_epi8(flags.value));
}
inline Bytes16 less(Bytes16 a, char c) { return {_mm_sub_epi8(a.value, _mm_set1_epi8(c))}; }
inline std::uint64_t first_eight(Bytes16 a) {
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(a.value));
}

inline std::uint64_t decimal(Bytes16 a, unsigned count) {
  // Move the digits to the end of the register, zeros in front: index < 0 selects zero.
  const __m128i index =
      _mm_add_epi8(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                   _mm_set1_epi8(static_cast<char>(static_cast<int>(count) - 16)));
  const __m128i aligned = _mm_shuffle_epi8(a.value, index);
  const __m128i twos = _mm_maddubs_epi16(
      aligned, _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights =
      _mm_madd_epi16(packed, _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xffffffffU) * 100000000U + (both >> 32U);
}

}  // namespace fathom::simd_sse
#elif defined(__aarch64__) && defined(__ARM_NEON)
namespace fathom::simd_neon {

struct Bytes16 {
  uint8x16_t value;
};

inline Bytes16 load(const char* p) { return {vld1q_u8(reinterpret_cast<const std::uint8_t*>(p))}; }
inline Bytes16 filled(char c) { return {vdupq_n_u8(static_cast<std::uint8_t>(c))}; }
inline Bytes16 operator|(Bytes16 a, Bytes16 b) { return {vorrq_u8(a.value, b.value)}; }
inline Bytes16 operator&(Bytes16 a, Bytes16 b) { return {vandq_u8(a.value, b.value)}; }
inline Bytes16 equal(Bytes16 a, Bytes16 b) { return {vceqq_u8(a.value, b.value)}; }
inline Bytes16 at_most(Bytes16 a, unsigned char limit) {
  return {vcleq_u8(a.value, vdupq_n_u8(limit))};
}
inline unsigned mask_of(Bytes16 flags) {
  // One bit of each byte, its own within its half; three additions of neighbours gather them.
  static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                             1, 2, 4, 8, 16, 32, 64, 128};
  const int8x16_t spread = vshrq_n_s8(vreinterpretq_s8_u8(flags.value), 7);
  const uint8x16_t bits = vandq_u8(vreinterpretq_u8_s8(spread), vld1q_u8(kBits));
  const uint8x16_t twos = vpaddq_u8(bits, bits);
  const uint8x16_t fours = vpaddq_u8(twos, twos);
  const uint8x16_t eights = vpaddq_u8(fours, fours);
  return vgetq_lane_u16(vreinterpretq_u16_u8(eights), 0);
}
inline Bytes16 less(Bytes16 a, char c) {
  return {vsubq_u8(a.value, vdupq_n_u8(static_cast<std::uint8_t>(c)))};
}
inline std::uint64_t first_eight(Bytes16 a) {
  return vgetq_lane_u64(vreinterpretq_u64_u8(a.value), 0);
}

inline std::uint64_t decimal(Bytes16 a, unsigned count) {
  static constexpr std::uint8_t kPlaces[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr std::uint8_t kTens[8] = {10, 1, 10, 1, 10, 1, 10, 1};
  static constexpr std::uint16_t kHundreds[4] = {100, 1, 100, 1};
  static constexpr std::uint32_t kTenThousands[2] = {10000, 1};
  // Move the digits to the end of the register, zeros in front: an index beyond 15 selects zero.
  const uint8x16_t index =
      vaddq_u8(vld1q_u8(kPlaces), vdupq_n_u8(static_cast<std::uint8_t>(count - 16)));
  const uint8x16_t aligned = vqtbl1q_u8(a.value, index);
  const uint8x8_t tens = vld1_u8(kTens);
  const uint16x8_t twos = vpaddq_u16(vmull_u8(vget_low_u8(aligned), tens),  //
                                     vmull_u8(vget_high_u8(aligned), tens));
  const uint16x4_t hundreds = vld1_u16(kHundreds);
  const uint32x4_t fours =
      vpaddq_u32(vmull_u16(vget_low_u16(twos), hundreds), vmull_u16(vget_high_u16(twos), hundreds));
  const uint32x2_t ten_thousands = vld1_u32(kTenThousands);
  const uint64x2_t eights = vpaddq_u64(vmull_u32(vget_low_u32(fours), ten_thousands),
                                       vmull_u32(vget_high_u32(fours), ten_thousands));
  return vgetq_lane_u64(eights, 0) * 100000000U + vgetq_lane_u64(eights, 1);
}

}  // namespace fathom::simd_neon
#endif

namespace fathom {
#if defined(FATHOM_SCALAR)
namespace simd = simd_scalar;
#elif defined(__SSE4_1__)
namespace simd = simd_sse;
#elif defined(__aarch64__) && defined(__ARM_NEON)
namespace simd = simd_neon;
#else
namespace simd = simd_scalar;
#endif
}  // namespace fathom
