#include "sample/line_table.h"

#include <initializer_list>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(LineTable, IncrementsOfAddressAndLine) {
  // Objects/lnotab_notes.txt of CPython: addresses 0, 6, 50, 350, 361 of lines 1, 2, 7, 207, 208.
  const auto table = bytes({6, 1, 44, 5, 255, 0, 45, 127, 0, 73, 11, 1});
  const auto line = [&](unsigned at) { return line_at(LineTable::lnotab, table, 1, at); };
  EXPECT_EQ(line(0), 1);
  EXPECT_EQ(line(5), 1);
  EXPECT_EQ(line(6), 2);
  EXPECT_EQ(line(49), 2);
  EXPECT_EQ(line(50), 7);
  EXPECT_EQ(line(349), 7);
  EXPECT_EQ(line(350), 207);
  EXPECT_EQ(line(361), 208);
  EXPECT_EQ(line_at(LineTable::lnotab, bytes({4, 0xff}), 10, 4), 9);
}

TEST(LineTable, RangesWithAndWithoutLine) {
  // PEP 626: a range of 4 bytes of line 11, 2 of none, 254 and 2 of line 9.
  const auto table = bytes({4, 1, 2, 0x80, 254, 0xfe, 2, 0});
  const auto line = [&](unsigned at) { return line_at(LineTable::ranges, table, 10, at); };
  EXPECT_EQ(line(0), 11);
  EXPECT_EQ(line(3), 11);
  EXPECT_FALSE(line(4));
  EXPECT_EQ(line(6), 9);
  EXPECT_EQ(line(261), 9);
  EXPECT_FALSE(line(262));
}

TEST(LineTable, LocationsOfEachForm) {
  // Objects/locations.md of CPython: short, one line, no column, long, none.
  const auto table = bytes({0x80 | (3 << 3) | 1, 0x12,                  // 2 units, same line
                            0x80 | (12 << 3) | 0, 4, 9,                 // 1 unit, 2 lines on
                            0x80 | (13 << 3) | 0, 0x07,                 // 1 unit, 3 lines back
                            0x80 | (14 << 3) | 0, 0x48, 0x02, 0, 1, 1,  // 68 lines on
                            0x80 | (15 << 3) | 7});                     // 8 units of none
  const auto line = [&](unsigned at) { return line_at(LineTable::locations, table, 100, at); };
  EXPECT_EQ(line(0), 100);
  EXPECT_EQ(line(2), 100);
  EXPECT_EQ(line(4), 102);
  EXPECT_EQ(line(6), 99);
  EXPECT_EQ(line(8), 167);
  EXPECT_FALSE(line(10));
  EXPECT_FALSE(line(26));
}

TEST(LineTable, DamageGivesALineOrNone) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> table(random() % 64);
    for (std::byte& byte : table) byte = static_cast<std::byte>(random());
    for (const LineTable kind : {LineTable::lnotab, LineTable::ranges, LineTable::locations}) {
      const auto instruction = static_cast<std::uint32_t>(random() % 300);
      const auto line = line_at(kind, table, static_cast<std::int32_t>(random()), instruction);
      EXPECT_TRUE(!line || *line >= 0);
    }
  }
}

}  // namespace
}  // namespace fathom::sample
