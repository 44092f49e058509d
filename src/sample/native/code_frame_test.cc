// Starts and ends of functions as compilers, MKL and oneDNN write them.
#include "sample/native/code_frame.h"

#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample::native {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

constexpr std::uint64_t kRbx = 3;
constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kR12 = 12;
constexpr std::uint64_t kR15 = 15;

TEST(CodeFrame, OfAKernelThatStoresWhatItKeeps) {
  // endbr64; sub $0x80,%rsp; mov %rbx,(%rsp); mov %rbp,8(%rsp); mov %r12,0x10(%rsp);
  // mov 0x88(%rsp),%r10
  const CodeFrame frame =
      read_start(bytes_of({0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x81, 0xec, 0x80, 0,    0,    0,
                           0x48, 0x89, 0x1c, 0x24, 0x48, 0x89, 0x6c, 0x24, 0x08, 0x4c, 0x89,
                           0x64, 0x24, 0x10, 0x4c, 0x8b, 0x94, 0x24, 0x88, 0,    0,    0}));
  EXPECT_EQ(frame.from_stack, 0x88);
  EXPECT_FALSE(frame.from_frame);
  EXPECT_EQ(frame.saved[kRbx], -0x88);
  EXPECT_EQ(frame.saved[kRbp], -0x80);
  EXPECT_EQ(frame.saved[kR12], -0x78);
  EXPECT_FALSE(frame.saved[kR15]);
  EXPECT_FALSE(frame.others_same);
}

TEST(CodeFrame, OfAKernelThatPushesWhatItKeeps) {
  // push %rbp; mov %rsp,%rbp; push %rbx; push %r12; mov $0x400,%ebp
  const CodeFrame frame =
      read_start(bytes_of({0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0xbd, 0, 4, 0, 0}));
  EXPECT_EQ(frame.from_stack, 32);
  EXPECT_EQ(frame.from_frame, 16);
  EXPECT_EQ(frame.saved[kRbp], -16);
  EXPECT_EQ(frame.saved[kRbx], -24);
  EXPECT_EQ(frame.saved[kR12], -32);
}

TEST(CodeFrame, OfOneThatHasNotBegun) {
  const CodeFrame frame = read_start({});
  EXPECT_EQ(frame.from_stack, 8);
  EXPECT_FALSE(frame.saved[kRbx]);
}

TEST(CodeFrame, OfOneThatAlignsItsStack) {
  // push %rbp; mov %rsp,%rbp; and $-64,%rsp; push %rbx
  const CodeFrame frame =
      read_start(bytes_of({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xc0, 0x53}));
  EXPECT_FALSE(frame.from_stack);
  EXPECT_EQ(frame.from_frame, 16);
  EXPECT_EQ(frame.saved[kRbp], -16);
  EXPECT_FALSE(frame.saved[kRbx]) << "its place is not known";
}

TEST(CodeFrame, AFramePointerThatIsUsedOtherwiseIsNone) {
  // push %rbp; mov %rsp,%rbp; xor %ebp,%ebp
  const CodeFrame frame = read_start(bytes_of({0x55, 0x48, 0x89, 0xe5, 0x31, 0xed}));
  EXPECT_FALSE(frame.from_frame);
  EXPECT_EQ(frame.from_stack, 16);
}

TEST(CodeFrame, ARegisterThatIsStoredAgainIsTheFunctionsOwn) {
  // push %rbx; sub $0x10,%rsp; mov %rbx,8(%rsp)
  const CodeFrame frame =
      read_start(bytes_of({0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x5c, 0x24, 0x08}));
  EXPECT_EQ(frame.saved[kRbx], -16);
}

TEST(CodeFrame, WhereAFunctionEnds) {
  // add $0x18,%rsp; pop %rbx; pop %r15; pop %rbp; ret
  const auto frame =
      read_end(bytes_of({0x48, 0x83, 0xc4, 0x18, 0x5b, 0x41, 0x5f, 0x5d, 0xc3, 0x90}));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->from_stack, 0x38);
  EXPECT_EQ(frame->saved[kRbx], -32);
  EXPECT_EQ(frame->saved[kR15], -24);
  EXPECT_EQ(frame->saved[kRbp], -16);
  EXPECT_TRUE(frame->others_same);
  // mov 8(%rsp),%rbp; add $0x80,%rsp; vzeroupper; ret
  const auto other = read_end(bytes_of(
      {0x48, 0x8b, 0x6c, 0x24, 8, 0x48, 0x81, 0xc4, 0x80, 0, 0, 0, 0xc5, 0xf8, 0x77, 0xc3}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->from_stack, 0x88);
  EXPECT_EQ(other->saved[kRbp], -0x80);
}

TEST(CodeFrame, WhereItDoesNotJustEnd) {
  EXPECT_FALSE(read_end({}));
  // pop %rbx, and no more is there; call; push; mov %rax,%rbx; ret; pop %rsp; ret
  EXPECT_FALSE(read_end(bytes_of({0x5b})));
  EXPECT_FALSE(read_end(bytes_of({0xe8, 0, 0, 0, 0, 0xc3})));
  EXPECT_FALSE(read_end(bytes_of({0x53, 0xc3})));
  EXPECT_FALSE(read_end(bytes_of({0x48, 0x89, 0xc3, 0xc3})));
  EXPECT_FALSE(read_end(bytes_of({0x5c, 0xc3})));
}

TEST(CodeFrame, WhatMovesTheStack) {
  EXPECT_FALSE(may_move_stack({}));
  // vmovups (%rsp),%ymm0; mov %rsp,%r15; mov 8(%rsp),%rax; cmp $8,%rsp
  EXPECT_FALSE(may_move_stack(bytes_of({0xc5, 0xfc, 0x10, 0x04, 0x24, 0x49, 0x89, 0xe7, 0x48, 0x8b,
                                        0x44, 0x24, 8, 0x48, 0x83, 0xfc, 8})));
  // nop; sub $0x180,%rsp; and $-64,%rsp; mov (%r15),%rsp; lea -8(%rbp),%rsp; mov %rbp,%rsp
  EXPECT_TRUE(may_move_stack(bytes_of({0x90, 0x48, 0x81, 0xec, 0x80, 1, 0, 0})));
  EXPECT_TRUE(may_move_stack(bytes_of({0x48, 0x83, 0xe4, 0xc0})));
  EXPECT_TRUE(may_move_stack(bytes_of({0x49, 0x8b, 0x27})));
  EXPECT_TRUE(may_move_stack(bytes_of({0x48, 0x8d, 0x65, 0xf8})));
  EXPECT_TRUE(may_move_stack(bytes_of({0x48, 0x89, 0xec})));
}

TEST(CodeFrame, AnyBytesAreReadToTheirEnd) {
  std::vector<std::byte> bytes(64);
  std::uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    for (std::byte& each : bytes) {
      state = state * 1664525U + 1013904223U;
      each = static_cast<std::byte>(state >> 24U);
    }
    // Those that move the stack are rare among any.
    bytes[0] = static_cast<std::byte>(0x50U + (state >> 28U));
    const auto part = std::span(bytes).first(static_cast<std::size_t>(round) % (bytes.size() + 1));
    const CodeFrame frame = read_start(part);
    EXPECT_GE(frame.from_stack.value_or(8), 8);
    const auto end = read_end(part);
    EXPECT_GE(end ? end->from_stack.value_or(0) : 8, 8);
  }
}

}  // namespace
}  // namespace fathom::sample::native
