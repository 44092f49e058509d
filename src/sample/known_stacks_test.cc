#include "sample/known_stacks.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample {
namespace {

const Code kWork{.name = "work"};
const Code kMain{.name = "main"};

/// Of `main`, which calls `work` at this instruction; that one is at another.
std::vector<Frame> stack(std::int64_t call, std::int64_t inner = 8) {
  return {{.code = &kWork, .instruction = inner, .address = 0x200},
          {.code = &kMain, .instruction = call, .address = 0x100}};
}

KnownStacks::Known known(std::int64_t call, const std::string& function,
                         const native::BlockedAt& at = {}) {
  return {.python = stack(call),
          .at = at,
          .mixed = {{.function = function, .file = "lib.so", .line = {}}},
          .time = call};
}

std::string found(const KnownStacks& stacks, const std::vector<Frame>& python,
                  const native::BlockedAt& at = {}) {
  const KnownStacks::Known* const known = stacks.find(python, at);
  if (known == nullptr) return "unknown";
  return known->mixed.empty() ? "none" : known->mixed.front().function;
}

TEST(KnownStacks, AreFoundByTheSameStackToTheInstruction) {
  KnownStacks stacks;
  EXPECT_TRUE(stacks.empty());
  EXPECT_EQ(found(stacks, stack(2)), "unknown");
  stacks.note(known(2, "dgemm"));
  EXPECT_FALSE(stacks.empty());
  EXPECT_EQ(found(stacks, stack(2)), "dgemm");
  EXPECT_EQ(found(stacks, stack(4)), "unknown") << "another call";
  EXPECT_EQ(found(stacks, stack(2, 10)), "unknown") << "the innermost function is further";
  std::vector<Frame> deeper = stack(2);
  deeper.push_back({.code = &kMain, .instruction = 2, .address = 0x80});
  EXPECT_EQ(found(stacks, deeper), "unknown");
  std::vector<Frame> elsewhere = stack(2);
  elsewhere.front().address = 0x300;
  EXPECT_EQ(found(stacks, elsewhere), "unknown") << "another call of the same function";
  std::vector<Frame> other = stack(2);
  other.front().code = &kMain;
  EXPECT_EQ(found(stacks, other), "unknown");
}

TEST(KnownStacks, WhatWasMetLastCounts) {
  KnownStacks stacks;
  stacks.note(known(2, "dgemm"));
  stacks.note(known(2, "dtrsm"));
  EXPECT_EQ(found(stacks, stack(2)), "dtrsm");
  KnownStacks::Known none = known(2, "");
  none.mixed.clear();
  stacks.note(none);
  EXPECT_EQ(found(stacks, stack(2)), "none") << "known to have no native functions";
}

TEST(KnownStacks, OfOneThatWaitsTheNativePlaceIsTheSameToo) {
  KnownStacks stacks;
  const native::BlockedAt there{.stack = 0x7000, .counter = 0x1234};
  stacks.note(known(2, "receive", there));
  EXPECT_EQ(found(stacks, stack(2), there), "receive");
  EXPECT_EQ(found(stacks, stack(2)), "unknown");
  EXPECT_EQ(found(stacks, stack(2), {.stack = 0x6ff0, .counter = 0x1234}), "unknown");
  EXPECT_EQ(found(stacks, stack(2), {.stack = 0x7000, .counter = 0x1238}), "unknown");
  stacks.note(known(2, "dgemm"));
  EXPECT_EQ(found(stacks, stack(2), there), "receive") << "the two are kept apart";
}

TEST(KnownStacks, TheOneThatWasMetFirstIsForgotten) {
  KnownStacks stacks;
  const auto most = static_cast<std::int64_t>(KnownStacks::kMost);
  for (std::int64_t call = 0; call < most; ++call) stacks.note(known(call, "old"));
  stacks.note(known(0, "again"));
  EXPECT_EQ(found(stacks, stack(1)), "old") << "noted twice it takes one place";
  stacks.note(known(most, "new"));
  EXPECT_EQ(found(stacks, stack(1)), "unknown");
  EXPECT_EQ(found(stacks, stack(0)), "again");
  EXPECT_EQ(found(stacks, stack(most)), "new");
  stacks.clear();
  EXPECT_TRUE(stacks.empty());
  EXPECT_EQ(found(stacks, stack(0)), "unknown");
}

TEST(KnownStacks, OfNoStackNothingIsKnown) {
  KnownStacks stacks;
  stacks.note({.python = {}, .at = {}, .mixed = {{.function = "f", .file = {}, .line = {}}}});
  EXPECT_TRUE(stacks.empty());
  EXPECT_EQ(found(stacks, {}), "unknown");
}

}  // namespace
}  // namespace fathom::sample
