#include "sample/stack.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample/made_python.h"

namespace fathom::sample {
namespace {

/// A made Python with three functions on its stack, main, left and end, and one to put in its
/// place.
class Stacks : public testing::Test {
 protected:
  Stacks() {
    main_ = python_.function("main");
    left_ = python_.function("left");
    right_ = python_.function("right");
    end_ = python_.function("end");
    python_.frame(MadePython::place(0), main_, 0, 10);
    python_.frame(MadePython::place(1), left_, MadePython::place(0), 0);
    python_.frame(MadePython::place(2), end_, MadePython::place(1), 4);
    python_.set_top(MadePython::place(3));
    python_.run(MadePython::place(2));
  }

  const Stack& read() { return reader_.read(); }
  std::string names(const Stack& stack) const {
    std::string text;
    for (const Frame& frame : stack.frames) {
      text += (text.empty() ? "" : " ") + frame.code->name + ":" +
              std::to_string(frame.code->line(python_.layout, frame.instruction).value_or(-1));
    }
    return text;
  }

  MadePython python_;
  CodeTable codes_{python_.memory, python_.layout};
  StackReader reader_{python_.memory, python_.layout, codes_, MadePython::kThread,
                      MadePython::kInterpreter};
  Address main_ = 0, left_ = 0, right_ = 0, end_ = 0;
};

TEST_F(Stacks, OneThatRestsIsRead) {
  const Stack& stack = read();
  EXPECT_EQ(stack.state, StackState::whole);
  EXPECT_EQ(names(stack), "end:1 left:1 main:2");
  EXPECT_EQ(read().takes, 2);
}

TEST_F(Stacks, OfAThreadThatDoesNotRunOneReadingTellsAll) {
  ASSERT_NE(reader_.read_resting(), nullptr);
  const std::size_t before = python_.memory.reads();
  codes_.look_again();
  const Stack* const stack = reader_.read_resting();
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->state, StackState::whole);
  EXPECT_EQ(names(*stack), "end:1 left:1 main:2");
  EXPECT_EQ(stack->takes, 1);
  const std::size_t once = python_.memory.reads() - before;
  // As is what is read of one that runs.
  codes_.look_again();
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
  EXPECT_GT(python_.memory.reads() - before - once, 2 * once);
  // From another place than before.
  python_.frame(MadePython::place(3), right_, MadePython::place(2), 0);
  python_.set_top(MadePython::place(4));
  python_.run(MadePython::place(3));
  EXPECT_EQ(names(*reader_.read_resting()), "right:1 end:1 left:1 main:2");
}

TEST_F(Stacks, WhatCannotBeIsNoThreadThatDoesNotRun) {
  ASSERT_NE(reader_.read_resting(), nullptr);
  python_.frame(MadePython::place(1), left_, MadePython::place(2), 0);
  EXPECT_EQ(reader_.read_resting(), nullptr);
}

TEST_F(Stacks, AThreadWithoutFramesHasAnEmptyOne) {
  python_.run(0);
  const Stack& stack = read();
  EXPECT_EQ(stack.state, StackState::whole);
  EXPECT_TRUE(stack.frames.empty());
}

TEST_F(Stacks, TheInterpretersOwnFramesAreLeftOut) {
  // Where C code calls Python lies a frame on the C stack.
  const Address shim = MadePython::kCframe + 0x100;
  python_.frame(shim, 0, MadePython::place(1), 0, 3);
  python_.frame(MadePython::place(2), end_, shim, 4);
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
  EXPECT_EQ(read().state, StackState::whole);
}

TEST_F(Stacks, GeneratorsLieElsewhere) {
  const Address generator = MadePython::kCframe + 0x200;
  python_.frame(generator, right_, MadePython::place(1), 12, 1);
  python_.run(generator);
  EXPECT_EQ(names(read()), "right:2 left:1 main:2");
  EXPECT_EQ(read().takes, 2);
}

TEST_F(Stacks, OneThatChangesAllTheTimeIsShortenedToWhatStays) {
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
  // left and end end, right is called in their place, and so on, between any two readings.
  bool other = false;
  python_.memory.between([&] {
    other = !other;
    python_.frame(MadePython::place(1), other ? right_ : left_, MadePython::place(0), 0);
    python_.run(MadePython::place(other ? 1 : 2));
  });
  const Stack& stack = read();
  EXPECT_EQ(stack.state, StackState::shortened);
  EXPECT_EQ(names(stack), "main:2");
  EXPECT_GT(stack.takes, 1);
}

TEST_F(Stacks, TheInnermostMayGoOnMeanwhile) {
  unsigned instruction = 0;
  python_.memory.between([&] {
    instruction = (instruction + 2) % 20;
    python_.frame(MadePython::place(2), end_, MadePython::place(1), instruction);
  });
  EXPECT_EQ(read().state, StackState::whole);
}

TEST_F(Stacks, AFunctionThatRunsByItselfCallsNone) {
  // end has ended, and what it left lies there, as it does just before left calls it again.
  python_.set_height(MadePython::place(1), -1);
  const Stack& stack = read();
  EXPECT_EQ(stack.state, StackState::shortened);
  EXPECT_EQ(names(stack), "left:1 main:2");
}

TEST_F(Stacks, AFunctionThatRunsByItselfMayCallByCCode) {
  python_.set_height(MadePython::place(1), -1);
  const Address shim = MadePython::kCframe + 0x100;
  python_.frame(shim, 0, MadePython::place(1), 0, 3);
  python_.frame(MadePython::place(2), end_, shim, 4);
  EXPECT_EQ(read().state, StackState::whole);
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
}

TEST_F(Stacks, WhereTheWayIsNotSeenOuterFramesStayThatAreWaitedFor) {
  const auto lose_the_way = [this] { python_.run(0xdead0000); };
  const auto find_the_way = [this] { python_.run(MadePython::place(2)); };
  const auto expect = [this](std::string_view stack) {
    EXPECT_EQ(read().state, StackState::shortened);
    EXPECT_EQ(names(read()), stack);
  };
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
  python_.set_height(MadePython::place(1), -1);
  lose_the_way();
  expect("left:1 main:2");
  // left has gone on to its other call.
  python_.frame(MadePython::place(1), left_, MadePython::place(0), 10);
  expect("left:2 main:2");
  python_.set_height(MadePython::place(1), 1);
  expect("end:1 left:2 main:2");
  // And main to its own.
  python_.set_height(MadePython::place(0), -1);
  python_.frame(MadePython::place(0), main_, 0, 0);
  expect("main:1");
  find_the_way();
  expect("main:1");
}

TEST_F(Stacks, WhatContradictsItselfIsNotRead) {
  const auto expect_unread = [&](std::string_view what) {
    const Stack& stack = read();
    EXPECT_NE(stack.state, StackState::whole) << what;
  };
  python_.frame(MadePython::place(2), end_, MadePython::place(1), 20);
  expect_unread("an instruction behind the bytecode");
  python_.frame(MadePython::place(2), MadePython::kObjects + 16, MadePython::place(1), 4);
  expect_unread("code that is none");
  python_.frame(MadePython::place(2), end_, MadePython::place(2), 4);
  expect_unread("a frame that called itself");
  python_.frame(MadePython::place(2), end_, MadePython::place(0), 4);
  expect_unread("a neighbour that is none");
  python_.frame(MadePython::place(2), end_, MadePython::place(1) + 4, 4);
  expect_unread("an odd address");
  python_.frame(MadePython::place(2), end_, 0xdead0000, 4);
  expect_unread("an address where nothing lies");
  python_.frame(MadePython::place(2), end_, 0, 4);
  expect_unread("a first frame that is not at the bottom");
  python_.frame(MadePython::place(2), end_, MadePython::place(1), 4);
  EXPECT_EQ(read().state, StackState::whole);
}

TEST_F(Stacks, AThreadThatIsGoneIsUnread) {
  EXPECT_EQ(read().state, StackState::whole);
  python_.memory.put<Address>(MadePython::kThread + python_.layout.thread_interpreter, 0x77);
  EXPECT_EQ(read().state, StackState::unread);
  python_.memory.unmap(MadePython::kThread);
  EXPECT_EQ(read().state, StackState::unread);
  EXPECT_TRUE(read().frames.empty());
}

TEST_F(Stacks, ACodeObjectThatWasReplacedIsForgotten) {
  EXPECT_EQ(names(read()), "end:1 left:1 main:2");
  const Code* const before = codes_.find(end_);
  python_.memory.put<Address>(end_ + python_.layout.code_name, python_.text("new"));
  codes_.look_again();
  EXPECT_EQ(before->name, "end");
  EXPECT_EQ(names(read()), "new:1 left:1 main:2");
}

TEST_F(Stacks, CodeObjectsThatTakeTurnsAtAPlaceAreKeptOnce) {
  const Code* const first = codes_.find(end_);
  const auto lie = [this](Address name) {
    python_.memory.put<Address>(end_ + python_.layout.code_name, name);
    codes_.look_again();
    return codes_.find(end_);
  };
  const Code* const second = lie(python_.text("other"));
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(lie(python_.text("end")), first);
  EXPECT_EQ(lie(python_.text("other")), second);
  // No code object any more.
  python_.memory.put<Address>(end_ + python_.layout.object_type, 0);
  codes_.look_again();
  EXPECT_EQ(codes_.find(end_), nullptr);
  EXPECT_EQ(second->name, "other");
}

TEST_F(Stacks, TheCopiesOfACodeObjectMayMove) {
  python_.layout.code_copies = python_.layout.code_bytecode + 16;
  const Code* const code = codes_.find(end_);
  ASSERT_NE(code, nullptr);
  const auto move_to = [this](Address copies) {
    python_.memory.put<Address>(end_ + python_.layout.code_copies, copies);
    codes_.look_again();
  };
  move_to(0x100);
  EXPECT_EQ(codes_.find(end_), code);
  EXPECT_EQ(code->copies, 0x100U) << "compared with all of the look before";
  move_to(0x200);
  move_to(0x300);
  EXPECT_EQ(codes_.find(end_), code);
  EXPECT_EQ(code->copies, 0x300U) << "compared alone";
}

TEST_F(Stacks, WhatWasNeededBeforeIsComparedInOneRead) {
  EXPECT_EQ(read().state, StackState::whole);
  const auto reads_of_a_look = [this] {
    codes_.look_again();
    const std::size_t before = python_.memory.reads();
    EXPECT_NE(codes_.find(end_), nullptr);
    EXPECT_NE(codes_.find(left_), nullptr);
    EXPECT_NE(codes_.find(main_), nullptr);
    return python_.memory.reads() - before;
  };
  reads_of_a_look();
  EXPECT_EQ(reads_of_a_look(), 3U) << "pieces, and none of them twice";
}

TEST_F(Stacks, CodeObjectsAreComparedInTheCallThatReadsTheStack) {
  read();
  codes_.look_again();
  std::size_t before = python_.memory.calls();
  EXPECT_EQ(read().takes, 2);
  EXPECT_EQ(python_.memory.calls() - before, 2U);
  codes_.look_again();
  before = python_.memory.calls();
  ASSERT_NE(reader_.read_resting(), nullptr);
  EXPECT_EQ(python_.memory.calls() - before, 1U);
  // One that is gone is no reason to read the stack again.
  python_.run(MadePython::place(1));
  python_.memory.unmap(end_);
  codes_.look_again();
  EXPECT_EQ(names(read()), "left:1 main:2");
}

TEST_F(Stacks, WhereTheStackHasGoneOnItIsReadOnceMore) {
  read();
  const std::size_t before = python_.memory.calls();
  std::size_t reads = 0;
  // Each take has other functions.
  python_.memory.between([&] {
    if (++reads % 6 != 1) return;
    const bool inner = reads % 12 == 1;
    python_.run(MadePython::place(inner ? 1 : 2));
  });
  const int takes = read().takes;
  EXPECT_GT(takes, 2);
  EXPECT_EQ(python_.memory.calls() - before, static_cast<std::size_t>(takes));
}

TEST_F(Stacks, ALookThatNeedsNoCodeForgetsNoneOfTheOneBefore) {
  EXPECT_EQ(read().state, StackState::whole);
  codes_.look_again();
  codes_.look_again();
  const std::size_t before = python_.memory.calls();
  for (const Address code : {end_, left_, main_}) EXPECT_NE(codes_.find(code), nullptr);
  EXPECT_EQ(python_.memory.calls() - before, 1U);
}

TEST_F(Stacks, DeepRecursionIsRead) {
  constexpr std::size_t kDepth = 160;  // as many as the chunk holds
  for (std::size_t depth = 1; depth < kDepth; ++depth)
    python_.frame(MadePython::place(depth), left_, MadePython::place(depth - 1), 0);
  python_.run(MadePython::place(kDepth - 1));
  python_.set_top(MadePython::place(kDepth));
  const Stack& stack = read();
  EXPECT_EQ(stack.state, StackState::whole);
  EXPECT_EQ(stack.frames.size(), kDepth);
}

TEST_F(Stacks, DamageCostsTimeOnly) {
  std::mt19937_64 random(11);
  constexpr std::array kParts = {MadePython::kThread, MadePython::kCframe, MadePython::kChunk};
  for (int round = 0; round < 2000; ++round) {
    MadePython made;
    const Address code = made.function("f");
    for (std::size_t depth = 0; depth < 8; ++depth)
      made.frame(MadePython::place(depth), code, depth == 0 ? 0 : MadePython::place(depth - 1), 2);
    made.run(MadePython::place(7));
    made.set_top(MadePython::place(8));
    const auto damage = [&] {
      const Address at = kParts[random() % kParts.size()] + 8 * (random() % 120);
      // Often something that could be an address.
      const Address value = random() % 3 == 0 ? random() : kParts[random() % 3] + random() % 2048;
      made.memory.put<Address>(at, value);
    };
    for (std::uint64_t hit = 0; hit < random() % 6; ++hit) damage();
    if (round % 3 == 0) {
      made.memory.between([&] {
        if (random() % 8 == 0) damage();
      });
    }
    CodeTable codes(made.memory, made.layout);
    StackReader reader(made.memory, made.layout, codes, MadePython::kThread,
                       MadePython::kInterpreter);
    for (int again = 0; again < 3; ++again) {
      const Stack& stack = reader.read();
      EXPECT_LE(stack.frames.size(), StackReader::kMostFrames);
    }
    ASSERT_LT(made.memory.reads(), 4000000U);
  }
}

}  // namespace
}  // namespace fathom::sample
