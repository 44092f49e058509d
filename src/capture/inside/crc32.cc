// CRC-32 for the SDK, which brings no library along: eight bytes at a time, or by carry-less
// multiplication where the processor has it (V. Gopal et al., "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel, 2009; constants for the reflected polynomial).
#include "base/crc32.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fathom {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
    tables[0][byte] = sum;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = tables[slice - 1][byte];
      tables[slice][byte] = (sum >> 8) ^ tables[0][sum & 0xffU];
    }
  return tables;
}
constexpr Tables kTables = make_tables();

/// Goes on from a sum that is not yet complemented.
std::uint32_t plain(std::uint32_t sum, const char* data, std::size_t size) {
  for (; size >= kSlices; data += kSlices, size -= kSlices) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, sizeof word);
    word ^= sum;
    sum = 0;
    for (std::size_t i = 0; i < kSlices; ++i)
      sum ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xffU];
  }
  for (; size > 0; ++data, --size)
    sum = (sum >> 8) ^ kTables[0][(sum ^ static_cast<unsigned char>(*data)) & 0xffU];
  return sum;
}

#if defined(__x86_64__)
constexpr std::size_t kFold = 64;  // bytes at a time, and the least to begin with

[[gnu::target("pclmul,sse4.1")]] __m128i fold(__m128i sum, __m128i keys, __m128i data) {
  const __m128i low = _mm_clmulepi64_si128(sum, keys, 0x00);
  const __m128i high = _mm_clmulepi64_si128(sum, keys, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), data);
}

[[gnu::target("pclmul,sse4.1")]] __m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// A multiple of 16 bytes, at least kFold.
[[gnu::target("pclmul,sse4.1")]] std::uint32_t folded(std::uint32_t sum, const char* data,
                                                      std::size_t size) {
  const __m128i by_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128(static_cast<int>(sum)));
  __m128i b = load(data + 16);
  __m128i c = load(data + 32);
  __m128i d = load(data + 48);
  for (data += kFold, size -= kFold; size >= kFold; data += kFold, size -= kFold) {
    a = fold(a, by_64, load(data));
    b = fold(b, by_64, load(data + 16));
    c = fold(c, by_64, load(data + 32));
    d = fold(d, by_64, load(data + 48));
  }
  a = fold(a, by_16, b);
  a = fold(a, by_16, c);
  a = fold(a, by_16, d);
  for (; size >= 16; data += 16, size -= 16) a = fold(a, by_16, load(data));
  // What 16 bytes come to is what the tables say of them.
  std::array<char, 16> rest{};
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), a);
  return plain(0, rest.data(), rest.size());
}
#endif

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t sum = UINT32_MAX;
  const char* data = bytes.data();
  std::size_t size = bytes.size();
#if defined(__x86_64__)
  static const bool fast =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  if (fast && size >= kFold) {
    const std::size_t whole = size / 16 * 16;
    sum = folded(sum, data, whole);
    data += whole;
    size -= whole;
  }
#endif
  return ~plain(sum, data, size);
}

}  // namespace fathom
