#include "sample/layout.h"

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

using Offsets = std::array<std::uint64_t, kOffsetsBytes / 8>;

/// What CPython 3.13.0 carries on x86-64, up to what is read.
Offsets python_313() {
  Offsets at{};
  std::memcpy(at.data(), kOffsetsCookie, 8);
  at[1] = 0x030d00f0;
  const std::vector<std::uint64_t> rest = {
      0,                                                                            // free-threaded
      283320, 624,  632,                                                            // runtime
      194968, 7272, 7264, 7344, 7560, 7664, 7720, 7728, 16,  7752, 0,  7768, 7760,  // interpreter
      304,    0,    8,    16,   72,   152,  160,  232,  24,                         // thread
      80,     8,    0,    56,   72,   70,                                           // frame
      208,    112,  120,  128,  136,  68,   52,   96,   104, 200,                   // code
      16,     8,                                                                    // object
      416,    24,   88,   168,                                                      // type
      32,     24,   16,   40,   24,   16,   48,   32,   40,  24,   16,  // tuple, list, dict, float
      32,     16,   24,   40,   16,   32,                               // long, bytes
      64,     32,   16,   40};                                          // text
  std::copy(rest.begin(), rest.end(), at.begin() + 2);
  return at;
}

/// What 3.14 has put in between, by its pycore_debug_offsets.h.
Offsets python_314() {
  const Offsets old = python_313();
  std::vector<std::uint64_t> at(old.begin(), old.end());
  const auto insert = [&at](std::size_t before, std::initializer_list<std::uint64_t> values) {
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(before), values);
  };
  at[1] = 0x030e00f0;
  insert(10, {7352});             // threads_main
  insert(20, {7900, 0});          // generations
  insert(37, {64, 0});            // stackpointer, tlbc_index
  insert(49, {0});                // co_tlbc
  insert(62, {200, 24, 32, 40});  // set
  Offsets out{};
  std::copy_n(at.begin(), out.size(), out.begin());
  return out;
}

std::optional<Layout> read(const Offsets& offsets) {
  return layout_from_offsets(std::as_bytes(std::span(offsets)));
}

TEST(Layout, EachVersionBefore313HasARow) {
  for (const int minor : {8, 9, 10, 11, 12}) {
    const auto layout = known_layout(minor);
    ASSERT_TRUE(layout) << minor;
    EXPECT_EQ(layout->minor, minor);
    EXPECT_EQ(layout->on_heap(), minor < 11);
    EXPECT_EQ(layout->thread_native != 0, minor >= 11);
  }
  for (const int minor : {-1, 0, 7, 13, 14, 99}) EXPECT_FALSE(known_layout(minor));
}

TEST(Layout, CPythonsOwnOffsetsAreTaken) {
  const auto layout = read(python_313());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->minor, 13);
  EXPECT_EQ(layout->interpreters, 632U);
  EXPECT_EQ(layout->interpreter_threads, 7344U);
  EXPECT_EQ(layout->interpreter_gil, 16U);
  EXPECT_EQ(layout->gil_holder, 8U);
  EXPECT_EQ(layout->gil_locked, 16U);
  EXPECT_EQ(layout->thread_frame, 72U);
  EXPECT_EQ(layout->thread_native, 160U);
  EXPECT_EQ(layout->thread_chunk, 232U);
  EXPECT_EQ(layout->frame_previous, 8U);
  EXPECT_EQ(layout->frame_instruction, 56U);
  EXPECT_EQ(layout->frame_owner, 70U);
  EXPECT_EQ(layout->code_name, 128U);
  EXPECT_EQ(layout->code_frame_words, 76U);
  EXPECT_EQ(layout->code_bytecode, 200U);
  EXPECT_EQ(layout->text_ascii, 40U);
  EXPECT_EQ(layout->text_wide, 56U);
  EXPECT_EQ(layout->bytes_data, 32U);
}

TEST(Layout, WhatVersion314PutInBetweenIsNotTakenForSomethingElse) {
  const auto old = read(python_313());
  const auto layout = read(python_314());
  ASSERT_TRUE(old && layout);
  EXPECT_EQ(layout->minor, 14);
  EXPECT_EQ(layout->interpreter_threads, old->interpreter_threads);
  EXPECT_EQ(layout->gil_holder, old->gil_holder);
  EXPECT_EQ(layout->thread_chunk, old->thread_chunk);
  EXPECT_EQ(layout->frame_owner, old->frame_owner);
  EXPECT_EQ(layout->code_bytecode, old->code_bytecode);
  EXPECT_EQ(layout->object_size, old->object_size);
  EXPECT_EQ(layout->text_state, old->text_state);
  EXPECT_EQ(layout->text_ascii, old->text_ascii);
}

TEST(Layout, OtherVersionsAndPreReleasesAreRefused) {
  for (const std::uint64_t version :
       {0x030c00f0ULL, 0x030f00f0ULL, 0x030d00a1ULL, 0x030e00b4ULL, 0x040d00f0ULL, 0ULL}) {
    Offsets offsets = python_313();
    offsets[1] = version;
    EXPECT_FALSE(read(offsets)) << version;
  }
  Offsets offsets = python_313();
  offsets[0] ^= 1;
  EXPECT_FALSE(read(offsets));
  EXPECT_FALSE(layout_from_offsets({}));
}

TEST(Layout, OffsetsThatCannotBeAreRefused) {
  const Offsets sound = python_313();
  // Of the thread, the frame and the code; a size of 0 and an offset behind it.
  for (const std::size_t place : {19U, 28U, 34U, 23U, 33U, 43U}) {
    Offsets offsets = sound;
    offsets[place] = place == 19 || place == 28 || place == 34 ? 0 : 5000;
    EXPECT_FALSE(read(offsets)) << place;
  }
  Offsets offsets = sound;
  offsets[5] = ~std::uint64_t{0};
  EXPECT_FALSE(read(offsets));
}

TEST(Layout, DamageIsRefusedOrStaysWithinBounds) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    Offsets offsets = round % 2 == 0 ? python_313() : python_314();
    for (int hit = 0; hit < 3; ++hit) offsets[2 + random() % 80] = random() >> (random() % 64);
    const auto layout = read(offsets);
    if (!layout) continue;
    EXPECT_LT(layout->thread_frame, 4096U);
    EXPECT_LT(layout->frame_instruction, 512U);
    EXPECT_LT(layout->code_bytecode, 1024U);
    EXPECT_LT(layout->text_length, 128U);
  }
}

}  // namespace
}  // namespace fathom::sample
