// Call frame information written by hand, and damaged.
#include "sample/native/call_frames.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "sample/native/expression.h"

namespace fathom::sample::native {
namespace {

using Kind = Rule::Kind;

constexpr std::uint64_t kFramesAt = 0x2000;
constexpr std::uint64_t kFunction = 0x1000;
constexpr std::uint64_t kSize = 0x40;

std::string number(std::int64_t value, std::size_t size = 4) {
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &value, size);
  return bytes;
}

/// With its length, filled up with instructions that do nothing.
std::string entry(std::string bytes) {
  while (bytes.size() % 8 != 4) bytes += '\0';
  return number(static_cast<std::int64_t>(bytes.size())) + bytes;
}

/// "zR": addresses are 4 bytes, relative. The frame is rsp + 8, the return address before it.
std::string common(const std::string& augmentation = "zR") {
  std::string bytes = number(0) + "\1" + augmentation + std::string(1, '\0') + "\1\x78\x10";
  bytes += std::string("\1\x1b", 2);
  return entry(bytes + std::string("\x0c\x07\x08\x90\x01", 5));
}

/// .eh_frame with one function of these instructions.
std::string one_function(const std::string& instructions, const std::string& cie = common()) {
  const auto at = static_cast<std::int64_t>(cie.size()) + 4;
  const std::int64_t place = static_cast<std::int64_t>(kFramesAt) + at + 4;
  const std::string fde = number(at) + number(static_cast<std::int64_t>(kFunction) - place) +
                          number(kSize) + std::string(1, '\0') + instructions;
  return cie + entry(fde) + number(0);
}

Section section(const std::string& bytes, std::uint64_t address = kFramesAt) {
  return {.address = address, .bytes = std::as_bytes(std::span(bytes))};
}

TEST(CallFrames, FollowsAPrologueInstructionByInstruction) {
  // push %rbp at 1, mov %rsp,%rbp at 4, pop at 0x20
  const std::string bytes = one_function(
      std::string("\x41\x0e\x10\x86\x02"      // advance 1, the frame is 16 behind, rbp is saved
                  "\x43\x0d\x06"              // advance 3, rbp leads to it from now on
                  "\x5c\x0a\xc6\x0c\x07\x08"  // advance 28, remember, rbp is back
                  "\x41\x0b",                 // advance 1, as before
                  16));
  const CallFrames frames({}, section(bytes));
  const auto at = [&](std::uint64_t offset) { return frames.find(kFunction + offset); };
  ASSERT_TRUE(at(0));
  EXPECT_EQ(at(0)->frame.number, 7U);
  EXPECT_EQ(at(0)->frame.offset, 8);
  EXPECT_EQ(at(0)->registers[16].kind, Kind::saved);
  EXPECT_EQ(at(0)->registers[16].offset, -8);
  EXPECT_EQ(at(0)->registers[6].kind, Kind::unspecified);
  EXPECT_EQ(at(1)->frame.offset, 16);
  EXPECT_EQ(at(1)->registers[6].offset, -16);
  EXPECT_EQ(at(3)->frame.number, 7U);
  EXPECT_EQ(at(4)->frame.number, 6U);
  EXPECT_EQ(at(4)->frame.offset, 16);
  EXPECT_EQ(at(0x20)->frame.number, 7U);
  EXPECT_EQ(at(0x20)->registers[6].kind, Kind::unspecified);
  EXPECT_EQ(at(0x21)->frame.number, 6U);
  EXPECT_EQ(at(0x21)->registers[6].kind, Kind::saved);
  EXPECT_EQ(at(0)->begin, kFunction);
  EXPECT_EQ(at(0)->end, kFunction + kSize);
}

TEST(CallFrames, KnowsNothingOutsideOfFunctions) {
  const std::string bytes = one_function("");
  const CallFrames frames({}, section(bytes));
  EXPECT_FALSE(frames.find(kFunction - 1));
  EXPECT_TRUE(frames.find(kFunction + kSize - 1));
  EXPECT_FALSE(frames.find(kFunction + kSize));
  EXPECT_FALSE(CallFrames().find(kFunction));
}

TEST(CallFrames, TellsSignalFrames) {
  const std::string bytes = one_function("", common("zRS"));
  EXPECT_TRUE(CallFrames({}, section(bytes)).find(kFunction)->signal);
}

TEST(CallFrames, FindsFunctionsByTheHeadersTable) {
  const std::string bytes = one_function("\x41\x0e\x10");
  constexpr std::uint64_t kHeaderAt = 0x1f00;
  const auto from_header = [](std::uint64_t to) {
    return number(static_cast<std::int64_t>(to) - static_cast<std::int64_t>(kHeaderAt));
  };
  const std::string header = std::string("\1\x1b\3\x3b", 4) + number(kFramesAt - kHeaderAt - 4) +
                             number(2) + from_header(0x500) + from_header(kFramesAt + 0x900) +
                             from_header(kFunction) + from_header(kFramesAt + common().size());
  const CallFrames frames(section(header, kHeaderAt), section(bytes));
  ASSERT_TRUE(frames.find(kFunction + 2));
  EXPECT_EQ(frames.find(kFunction + 2)->frame.offset, 16);
  // The entry that the table names lies nowhere.
  EXPECT_FALSE(frames.find(0x600));
  EXPECT_FALSE(frames.find(0x100));
}

TEST(CallFrames, ComputesTheFramesOfLinkageStubs) {
  // Of .plt: rsp + 8, and 8 more from its twelfth byte on.
  const std::string expression("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 11);
  const std::string bytes = one_function("\x0f\x0b" + expression);
  const std::optional<Row> row = CallFrames({}, section(bytes)).find(kFunction);
  ASSERT_TRUE(row);
  ASSERT_EQ(row->frame.kind, Kind::expression);
  Registers registers;
  registers.set(7, 0x7000);
  registers.set(16, 0x100a);
  EXPECT_EQ(evaluate(row->frame.bytes, registers, {}, std::nullopt), 0x7008U);
  registers.set(16, 0x100b);
  EXPECT_EQ(evaluate(row->frame.bytes, registers, {}, std::nullopt), 0x7010U);
}

TEST(CallFrames, NeitherEndsNorHangsOnDamage) {
  const std::string whole = one_function(std::string(
      "\x41\x0e\x10\x86\x02\x0a\x0b\x10\x03\x02\x77\x08\x2e\x10\x09\x03\x06\x16\x03\x01\x9c", 21));
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const auto found = CallFrames({}, section(cut)).find(kFunction + 8);
    EXPECT_TRUE(found || size < whole.size());
  }
  std::uint64_t chance = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (int change = 0; change < 3; ++change) {
      chance = chance * 6364136223846793005U + 1442695040888963407U;
      bytes[(chance >> 33U) % bytes.size()] = static_cast<char>(chance >> 20U);
    }
    const CallFrames frames(section(bytes, 0x1f00), section(bytes));
    if (const auto row = frames.find(kFunction + chance % kSize)) {
      EXPECT_LE(row->begin, kFunction + chance % kSize);
    }
    (void)CallFrames({}, section(bytes)).find(kFunction + chance % kSize);
  }
}

TEST(CallFrames, TakesNumbersThatAreTooLargeOrTooLong) {
  // rbp is saved 2^63 - 1 words of -8 bytes behind: of that, the lowest bits.
  const std::string large = one_function("\x86" + std::string(8, '\xff') + "\x7f");
  const auto row = CallFrames({}, section(large)).find(kFunction);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->registers[6].offset, 8);
  const std::string filled = one_function("\x86\x82" + std::string(9, '\x80') + std::string(1, 0));
  const auto same = CallFrames({}, section(filled)).find(kFunction);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->registers[6].offset, -16);
  const std::string endless = one_function("\x86" + std::string(40, '\x80') + std::string(1, 0));
  EXPECT_FALSE(CallFrames({}, section(endless)).find(kFunction));
  const std::string letters(100, 'B');
  EXPECT_FALSE(CallFrames({}, section(one_function("", common("zR" + letters)))).find(kFunction));
}

TEST(Expression, EndsAndStaysWithinItsStack) {
  const auto of = [](const std::string& bytes) {
    return evaluate(std::as_bytes(std::span(bytes)), {}, {}, 1);
  };
  EXPECT_EQ(of(std::string("\x35\x22", 2)), 6U);          // 5, plus
  EXPECT_EQ(of(std::string("\x08\x09\x33\x1b", 4)), 3U);  // 9 / 3
  EXPECT_FALSE(of(std::string("\x2f\xfd\xff", 3)));       // jumps to itself
  EXPECT_FALSE(of(std::string("\x30\x30\x1b", 3)));       // divides by 0
  EXPECT_FALSE(of(std::string("\x13\x13", 2)));           // nothing is left
  EXPECT_FALSE(of(std::string("\x12\x2f\xfc\xff", 4)));   // grows for ever
  EXPECT_FALSE(of(std::string("\x77\x00", 2)));           // a register that is not known
  EXPECT_FALSE(of(std::string("\x06", 1)));               // memory that was not copied
  EXPECT_FALSE(of(std::string("\x2f\x7f\x7f", 3)));       // jumps away
  EXPECT_FALSE(of(std::string("\x03\x01", 2)));           // ends within a number
}

}  // namespace
}  // namespace fathom::sample::native
