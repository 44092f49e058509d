#include "measure/command_words.h"

#include <gtest/gtest.h>

#include "base/shell_word.h"

namespace fathom::measure {
namespace {

using Words = std::vector<std::string>;

TEST(CommandWords, AreDividedAsAShellDivides) {
  EXPECT_EQ(*command_words("  python  a.py --x=1\t"), (Words{"python", "a.py", "--x=1"}));
  EXPECT_EQ(*command_words("sh -c 'a | b' ''"), (Words{"sh", "-c", "a | b", ""}));
  EXPECT_EQ(*command_words(R"(a\ b "c \"d\" \n")"), (Words{"a b", "c \"d\" \\n"}));
  EXPECT_EQ(*command_words("a'b'\"c\""), (Words{"abc"}));
  EXPECT_EQ(*command_words("a$'\\n\\'\\0331\\e'b c"), (Words{"a\n'\0331\033b", "c"}));
}

TEST(CommandWords, RefuseWhatOnlyAShellUnderstands) {
  for (const char* text : {"a | b", "echo $HOME", "ls *.py", "a > b", "echo \"$HOME\"", "a; b"})
    EXPECT_FALSE(command_words(text)) << text;
  EXPECT_NE(command_words("a | b").error().message.find("sh -c"), std::string::npos);
}

TEST(CommandWords, RefuseOpenQuotesAndEmptyCommands) {
  for (const char* text : {"", "  ", "'a", "\"a", "a\\", "$'a", "$'a\\"})
    EXPECT_FALSE(command_words(text)) << text;
}

TEST(CommandWords, AreReadBackFromTheirLine) {
  const Words words = {"sh",   "-c",       "it's $1 | \"x\"", "",    "a=b",
                       "x\ty", "it's\n\\", "\x1b[0m",         "\xff"};
  EXPECT_EQ(*command_words(command_line(words)), words);
}

}  // namespace
}  // namespace fathom::measure
