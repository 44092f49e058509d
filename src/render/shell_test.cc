#include "render/shell.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(ShellWord, LeavesPlainNamesAlone) {
  EXPECT_EQ(shell_word("runs/trace-1.json.gz"), "runs/trace-1.json.gz");
}

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_word("my trace.json"), "'my trace.json'");
  EXPECT_EQ(shell_word("$(rm x)"), "'$(rm x)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, ShowsControlCharacters) { EXPECT_EQ(shell_word("a\nb"), "'a␊b'"); }

}  // namespace
}  // namespace fathom
