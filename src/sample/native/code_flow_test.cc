// Kernels that move their stack in the middle.
#include "sample/native/code_flow.h"

#include <initializer_list>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample::native {
namespace {

std::vector<std::byte> code_of(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

constexpr std::uint64_t kRbx = 3;
constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kR12 = 12;

TEST(CodeFlow, OfAKernelThatAlignsItsStackLater) {
  // push %rbp; push %rbx; mov %rdi,%rax; mov %rsp,%rbp; sub $0x1000,%rsp; and $-64,%rsp;
  // vaddps %ymm5,%ymm5,%ymm5
  const auto code = code_of({0x55, 0x53, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x00,
                             0x10, 0x00, 0x00, 0x48, 0x83, 0xe4, 0xc0, 0xc5, 0xd4, 0x58, 0xed});
  const auto frame = follow(code, code.size(), false);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->from_stack);
  ASSERT_TRUE(frame->from_register);
  EXPECT_EQ(frame->from_register->number, kRbp);
  EXPECT_EQ(frame->from_register->distance, 24);
  EXPECT_EQ(frame->saved[kRbp], -16);
  EXPECT_EQ(frame->saved[kRbx], -24);
  EXPECT_TRUE(frame->same[kR12]);
  EXPECT_FALSE(frame->same[kRbx]);
  // Before it was aligned.
  EXPECT_EQ(follow(code, 15, false)->from_stack, 24 + 4096);
}

TEST(CodeFlow, OfOneThatKeepsItsStackPointerInTheAlignedStack) {
  // sub $0x40,%rsp; mov %rbp,8(%rsp); mov %rsp,%rbp; sub %rax,%rsp; and $-4096,%rsp;
  // mov %rbp,0x98(%rsp); xor %ebp,%ebp; push %rax; nop; pop %rax; mov 0x98(%rsp),%rsp; nop
  const auto code = code_of({0x48, 0x83, 0xec, 0x40, 0x48, 0x89, 0x6c, 0x24, 0x08, 0x48, 0x89,
                             0xe5, 0x48, 0x29, 0xc4, 0x48, 0x81, 0xe4, 0x00, 0xf0, 0xff, 0xff,
                             0x48, 0x89, 0xac, 0x24, 0x98, 0,    0,    0,    0x31, 0xed, 0x50,
                             0x90, 0x58, 0x48, 0x8b, 0xa4, 0x24, 0x98, 0,    0,    0,    0x90});
  const auto frame = follow(code, 33, false);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->from_stack);
  EXPECT_FALSE(frame->from_register);
  ASSERT_TRUE(frame->from_memory);
  EXPECT_EQ(frame->from_memory->number, 0xa0U);
  EXPECT_EQ(frame->from_memory->distance, 0x48);
  EXPECT_EQ(frame->saved[kRbp], -0x40);
  // While its frame pointer still has it, and where it has it back.
  EXPECT_EQ(follow(code, 30, false)->from_register->distance, 0x48);
  EXPECT_EQ(follow(code, 43, false)->from_stack, 0x48);
}

TEST(CodeFlow, BehindAnEndInTheMiddle) {
  // push %rbx; test %rdi,%rdi; jne over; pop %rbx; ret; over: sub $16,%rsp; nop
  const auto code =
      code_of({0x53, 0x48, 0x85, 0xff, 0x75, 0x02, 0x5b, 0xc3, 0x48, 0x83, 0xec, 0x10, 0x90});
  const auto frame = follow(code, 12, false);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->from_stack, 32);
  EXPECT_EQ(frame->saved[kRbx], -16);
}

TEST(CodeFlow, OfALoopThatIsEnteredAtItsEnd) {
  // push %rbx; jmp end; again: add $1,%rax; nop; end: jne again; pop %rbx; ret
  const auto code =
      code_of({0x53, 0xeb, 0x05, 0x48, 0x83, 0xc0, 0x01, 0x90, 0x75, 0xf9, 0x5b, 0xc3});
  ASSERT_TRUE(follow(code, 7, false));
  EXPECT_EQ(follow(code, 7, false)->from_stack, 16);
}

TEST(CodeFlow, WhereTwoWaysDifferNothingIsKnown) {
  // test %edi,%edi; jne over; push %rbx; over: nop
  EXPECT_FALSE(follow(code_of({0x85, 0xff, 0x75, 0x01, 0x53, 0x90}), 5, false));
  // A loop that pushes: each time it comes by the stack is deeper.
  EXPECT_FALSE(follow(code_of({0x53, 0x90, 0x75, 0xfc, 0x90}), 1, false));
}

TEST(CodeFlow, ARegisterThatIsChangedHasNotTheCallersValue) {
  // xor %ebx,%ebx; nop
  const auto frame = follow(code_of({0x31, 0xdb, 0x90}), 2, false);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->same[kRbx]);
  EXPECT_FALSE(frame->saved[kRbx]);
  EXPECT_TRUE(frame->same[kR12]);
  // In a loop, too, where it is changed behind the place: nop; xor %ebx,%ebx; jne to the nop
  const auto loop = follow(code_of({0x90, 0x31, 0xdb, 0x75, 0xfb, 0xc3}), 0, false);
  ASSERT_TRUE(loop);
  EXPECT_FALSE(loop->same[kRbx]);
}

TEST(CodeFlow, FunctionsMayFollowOneAnother) {
  // ret; int3 …; push %rbp; sub $0x20,%rsp; nop
  std::vector<std::byte> code(16, std::byte{0xcc});
  code[0] = std::byte{0xc3};
  const auto second = code_of({0x55, 0x48, 0x83, 0xec, 0x20, 0x90});
  code.insert(code.end(), second.begin(), second.end());
  EXPECT_FALSE(follow(code, 21, false));
  ASSERT_TRUE(follow(code, 21, true));
  EXPECT_EQ(follow(code, 21, true)->from_stack, 48);
}

TEST(CodeFlow, WhatIsNoInstructionEndsIt) {
  EXPECT_FALSE(follow(code_of({0x06, 0x90}), 1, false));
  // In the middle of one.
  EXPECT_FALSE(follow(code_of({0x48, 0x83, 0xec, 0x20, 0x90}), 2, false));
  EXPECT_FALSE(follow({}, 1, false));
  EXPECT_EQ(follow({}, 0, false)->from_stack, 8);
}

TEST(CodeFlow, AnyBytesCostTimeOnly) {
  std::mt19937 random(7);
  std::vector<std::byte> code(4096);
  for (int round = 0; round < 200; ++round) {
    for (std::byte& each : code) each = static_cast<std::byte>(random());
    // Mostly what is known.
    for (std::size_t i = 0; i < code.size(); i += 2) code[i] = std::byte{0x75};
    follow(code, random() % code.size(), round % 2 == 0);
  }
}

TEST(CodeFlow, FunctionsBeginByKeepingRegistersOrTakingStack) {
  EXPECT_TRUE(begins_function(code_of({0x55, 0x90, 0x90, 0x90})));
  EXPECT_TRUE(begins_function(code_of({0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57})));
  EXPECT_TRUE(begins_function(code_of({0x48, 0x83, 0xec, 0x20})));
  EXPECT_FALSE(begins_function(code_of({0x50, 0x90, 0x90, 0x90})));
  EXPECT_FALSE(begins_function(code_of({0x48, 0x83, 0xc4, 0x20})));
  EXPECT_FALSE(begins_function({}));
}

}  // namespace
}  // namespace fathom::sample::native
