// An answer is found by what was asked, and whole or not at all.
#include "engine/inputs/kept_answer.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(KeptAnswer, IsReadAsItWasWritten) {
  for (const std::string_view answer : {std::string_view(), std::string_view("{\n}\n\0x", 6)})
    EXPECT_EQ(read_answer(write_answer("key", "question", answer), "key", "question"), answer);
}

TEST(KeptAnswer, IsOfOneKeyAndQuestion) {
  const std::string content = write_answer("key", "question", "answer");
  EXPECT_FALSE(read_answer(content, "kex", "question"));
  EXPECT_FALSE(read_answer(content, "key", "questiom"));
  EXPECT_FALSE(read_answer(content, "keyq", "uestion")) << "the border between them counts";
  EXPECT_FALSE(read_answer(content, "key", "questiona"));
}

TEST(KeptAnswer, IsNotReadWhereABitDiffersOrTheEndIsElsewhere) {
  const std::string whole = write_answer("key", "question", "the answer is long enough");
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(read_answer(damaged, "key", "question")) << bit;
  }
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_answer(whole.substr(0, size), "key", "question")) << size;
  EXPECT_FALSE(read_answer(whole + "x", "key", "question"));
}

}  // namespace
}  // namespace fathom
