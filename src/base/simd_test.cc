// Each version that is compiled for this processor does what the comment of simd.h says.
#include "base/simd.h"

#include <array>
#include <random>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace fathom {
namespace {

using Text = std::array<char, 17>;  // one more, to load from an odd address

unsigned char byte_of(const Text& text, unsigned i) {
  return static_cast<unsigned char>(text[i + 1]);
}

/// Bytes of all values, those next to the limits that matter more often than others.
Text random_text(std::mt19937& random) {
  static constexpr unsigned char kOften[] = {0, 9, 10, 0x1f, 0x20, '"', '0', '9', 0x7f, 0x80, 0xff};
  Text text{};
  for (char& c : text) {
    const auto any = static_cast<unsigned>(random());
    c = static_cast<char>(any % 2 == 0 ? kOften[any / 2 % std::size(kOften)] : any / 2 % 256);
  }
  return text;
}

/// Bit i is set where `holds(i)`.
template <typename Holds>
unsigned expected_mask(Holds holds) {
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; ++i) mask |= holds(i) ? 1U << i : 0U;
  return mask;
}

/// A version's functions of that header that are not found by their arguments.
template <typename Bytes>
struct Makers {
  Bytes (*load)(const char*);
  Bytes (*filled)(char);
};

template <typename Bytes>
void check_masks(Makers<Bytes> version) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Text a = random_text(random);
    const Text b = random_text(random);
    const Bytes x = version.load(a.data() + 1);
    const Bytes y = version.load(b.data() + 1);
    const char c = b[1];
    const auto limit = static_cast<unsigned char>(b[2]);
    const auto high = [](int value) { return (value & 0x80) != 0; };
    EXPECT_EQ(mask_of(x), expected_mask([&](unsigned i) { return high(byte_of(a, i)); }));
    EXPECT_EQ(mask_of(equal(x, y)),
              expected_mask([&](unsigned i) { return byte_of(a, i) == byte_of(b, i); }));
    EXPECT_EQ(mask_of(equal(x, version.filled(c))),
              expected_mask([&](unsigned i) { return a[i + 1] == c; }));
    EXPECT_EQ(mask_of(at_most(x, limit)),
              expected_mask([&](unsigned i) { return byte_of(a, i) <= limit; }));
    EXPECT_EQ(mask_of(x | y),
              expected_mask([&](unsigned i) { return high(byte_of(a, i) | byte_of(b, i)); }));
    EXPECT_EQ(mask_of(x & y),
              expected_mask([&](unsigned i) { return high(byte_of(a, i) & byte_of(b, i)); }));
    EXPECT_EQ(mask_of(less(x, c)),
              expected_mask([&](unsigned i) { return high(byte_of(a, i) - byte_of(b, 0)); }));
    std::uint64_t eight = 0;
    for (unsigned i = 0; i < 8; ++i) eight |= std::uint64_t{byte_of(a, i)} << 8 * i;
    EXPECT_EQ(first_eight(x), eight);
  }
}

template <typename Bytes>
void check_decimals(Makers<Bytes> version) {
  std::mt19937_64 random(1);
  for (unsigned count = 0; count <= 16; ++count) {
    for (int round = 0; round < 200; ++round) {
      std::string digits;
      while (digits.size() < count) digits += static_cast<char>(round == 0 ? 9 : random() % 10);
      std::uint64_t expected = 0;
      for (const char digit : digits) expected = expected * 10 + static_cast<unsigned>(digit);
      // What follows the digits is any bytes.
      while (digits.size() < 16) digits += static_cast<char>(random());
      EXPECT_EQ(decimal(version.load(digits.data()), count), expected) << count;
    }
  }
}

TEST(Simd, ThePlainVersionComparesAndMasks) {
  check_masks<simd_scalar::Bytes16>({simd_scalar::load, simd_scalar::filled});
}

TEST(Simd, ThePlainVersionReadsDecimals) {
  check_decimals<simd_scalar::Bytes16>({simd_scalar::load, simd_scalar::filled});
}

TEST(Simd, TheProcessorsVersionComparesAndMasks) {
  check_masks<simd::Bytes16>({simd::load, simd::filled});
}

TEST(Simd, TheProcessorsVersionReadsDecimals) {
  check_decimals<simd::Bytes16>({simd::load, simd::filled});
}

TEST(Simd, AProcessorWithVectorsUsesThem) {
#if !defined(FATHOM_SCALAR) && (defined(__x86_64__) || defined(__aarch64__))
  EXPECT_FALSE((std::is_same_v<simd::Bytes16, simd_scalar::Bytes16>));
#else
  EXPECT_TRUE((std::is_same_v<simd::Bytes16, simd_scalar::Bytes16>));
#endif
}

}  // namespace
}  // namespace fathom
