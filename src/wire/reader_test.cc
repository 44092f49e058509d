#include "wire/reader.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/crc32.h"
#include "wire/wire_test_support.h"
#include "wire/writer.h"

namespace fathom::wire {
namespace {

template <typename T>
std::string packed(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Bytes of fields one after the other.
template <typename... Fields>
std::string pack(Fields... fields) {
  return (packed(fields) + ...);
}

std::string record(Kind kind, const std::string& body) {
  return pack(static_cast<std::uint16_t>(kind), static_cast<std::uint16_t>(body.size())) + body;
}

std::string block(const std::string& payload, std::uint64_t number = 0, std::uint16_t type = 1) {
  const std::string checked = pack(type, std::uint16_t{0}, number) + payload;
  return pack(kSync, static_cast<std::uint32_t>(payload.size()), crc32(checked)) + checked;
}

std::string instant(std::int64_t time) {
  return record(Kind::instant, pack(time, std::int32_t{1}, std::int64_t{1}, 0U, 0U));
}

std::string instants(std::size_t blocks) {
  std::string bytes(kMagic);
  for (std::size_t i = 0; i < blocks; ++i) bytes += block(instant(static_cast<std::int64_t>(i)), i);
  return bytes;
}

std::vector<std::string> times(const ReadBack& back) {
  std::vector<std::string> found;
  for (const std::string& line : back.listing.of("instant")) {
    const std::string rest = line.substr(8);
    found.push_back(rest.substr(0, rest.find(' ')));
  }
  return found;
}

using Times = std::vector<std::string>;

TEST(Reader, PiecesOfAnySizeMakeNoDifference) {
  const std::string bytes = instants(5);
  for (const std::size_t piece : {1U, 2U, 7U, 23U, 24U, 25U, 1000U}) {
    ReadBack back;
    read_back(bytes, back, piece);
    EXPECT_EQ(times(back), (Times{"0", "1", "2", "3", "4"})) << piece;
    EXPECT_EQ(back.damage.skipped.count + back.damage.cut_off.count, 0U);
  }
}

TEST(Reader, OffsetsAreThoseOfTheFile) {
  const std::string bytes = instants(2);
  ReadBack back;
  read_back(bytes, back, 5);
  EXPECT_EQ(back.listing.offsets,
            (std::vector<std::uint64_t>{kMagic.size() + kHeaderBytes,
                                        kMagic.size() + 2 * kHeaderBytes + instant(0).size()}));
}

TEST(Reader, ACorruptBlockIsSkippedAndTheNextIsFound) {
  std::string bytes = instants(4);
  const std::size_t second = bytes.find("FBLK", bytes.find("FBLK") + 1);
  const std::size_t size = kHeaderBytes + instant(0).size();
  for (std::size_t at = second; at < second + size; ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    ReadBack back;
    read_back(damaged, back, 64);
    EXPECT_EQ(times(back), (Times{"0", "2", "3"})) << at - second;
    EXPECT_EQ(back.damage.skipped.count, 1U);
    EXPECT_EQ(back.damage.skipped.first, second);
    EXPECT_EQ(back.damage.skipped_bytes, size);
    EXPECT_EQ(back.damage.missing.count, 1U);
  }
}

TEST(Reader, AFileCutAtEveryByteGivesTheBlocksBeforeTheCut) {
  const std::string bytes = instants(3);
  const std::size_t size = kHeaderBytes + instant(0).size();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ReadBack back;
    read_back(std::string_view(bytes).substr(0, cut), back, 11);
    const std::size_t whole = cut < kMagic.size() ? 0 : (cut - kMagic.size()) / size;
    EXPECT_EQ(back.blocks, whole) << cut;
    const bool border = cut == 0 || (cut >= kMagic.size() && (cut - kMagic.size()) % size == 0);
    EXPECT_EQ(back.damage.cut_off.count, border ? 0U : 1U) << cut;
  }
}

TEST(Reader, BytesBetweenBlocksAreSkippedAndCounted) {
  const std::string whole = instants(2);
  const std::size_t second = whole.find("FBLK", kMagic.size() + 1);
  const std::string bytes = whole.substr(0, second) + "FBLK?FBLFBgarbage" + whole.substr(second);
  for (const std::size_t piece : {1U, 3U, 100U}) {
    ReadBack back;
    read_back(bytes, back, piece);
    EXPECT_EQ(times(back), (Times{"0", "1"}));
    EXPECT_EQ(back.damage.skipped_bytes, 17U);
    EXPECT_EQ(back.damage.missing.count, 0U);
  }
}

TEST(Reader, MissingNumbersAreBlocksThatWereDropped) {
  const std::string bytes = std::string(kMagic) + block(instant(1), 5) + block(instant(2), 9);
  ReadBack back;
  read_back(bytes, back);
  EXPECT_EQ(back.damage.first_number, 5U);
  EXPECT_EQ(back.damage.missing.count, 3U);
}

TEST(Reader, UnknownKindsAndTypesAreCounted) {
  const std::string bytes = std::string(kMagic) +
                            block(pack(std::uint16_t{77}, std::uint16_t{3}) + "abc" + instant(4)) +
                            block("whatever", 1, 9);
  ReadBack back;
  read_back(bytes, back);
  EXPECT_EQ(times(back), (Times{"4"}));
  EXPECT_EQ(back.damage.unknown_kinds.at(77).count, 1U);
  EXPECT_EQ(back.damage.unknown_kinds.at(77).first, kMagic.size() + kHeaderBytes);
  EXPECT_EQ(back.damage.unknown_blocks.at(9).count, 1U);
}

TEST(Reader, FieldsOfALaterVersionAreIgnored) {
  const std::string body = pack(std::int64_t{6}, std::int32_t{1}, std::int64_t{1}, 0U, 0U, 99U);
  ReadBack back;
  read_back(std::string(kMagic) + block(record(Kind::instant, body)), back);
  EXPECT_EQ(times(back), (Times{"6"}));
  EXPECT_EQ(back.damage.malformed.count, 0U);
}

TEST(Reader, RecordsThatAreTooShortOrTooLongAreCounted) {
  const std::string bytes = std::string(kMagic) +
                            block(record(Kind::instant, "short") + instant(1)) +
                            block(instant(2) + pack(std::uint16_t{8}, std::uint16_t{5000}), 1);
  ReadBack back;
  read_back(bytes, back);
  EXPECT_EQ(times(back), (Times{"1", "2"}));
  EXPECT_EQ(back.damage.malformed.count, 2U);
}

TEST(Reader, TextsAndCountersThatAreNotDefinedInTheirBlockAreCounted) {
  const std::string text = record(Kind::string, pack(5U) + "name");
  const std::string uses = record(Kind::instant, pack(std::int64_t{1}, 1, std::int64_t{1}, 5U, 5U));
  const std::string sample = record(Kind::sample, pack(std::int64_t{1}, 3U, 1.0));
  ReadBack back;
  read_back(std::string(kMagic) + block(text + uses) + block(uses + sample, 1), back);
  EXPECT_EQ(back.listing.lines.at(0), "instant 1 1 1 name name");
  EXPECT_EQ(back.damage.texts.count, 3U);
}

TEST(Reader, AFileOfNothingButFalseHeadersIsReadInBoundedTime) {
  // Each header states a block as long as a megabyte; to sum up each would take hours.
  std::string bytes(kMagic);
  const std::string header = pack(kSync, std::uint32_t{1} << 20, 1U);
  while (bytes.size() < (std::size_t{24} << 20)) bytes += header;
  ReadBack back;
  read_back(bytes, back);
  EXPECT_EQ(back.blocks, 0U);
  EXPECT_EQ(back.damage.skipped_bytes, bytes.size() - kMagic.size());
}

TEST(Reader, AnEmptyFileHasNothing) {
  ReadBack back;
  read_back("", back);
  EXPECT_EQ(back.blocks, 0U);
  EXPECT_EQ(back.damage.cut_off.count, 0U);
}

}  // namespace
}  // namespace fathom::wire
