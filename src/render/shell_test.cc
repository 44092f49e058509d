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

TEST(CommandOn, NamesTheInputWhereverTheCommandDoes) {
  EXPECT_EQ(command_on("fathom gaps TRACE --sort -duration_ns", "my trace.json"),
            "fathom gaps 'my trace.json' --sort -duration_ns");
  EXPECT_EQ(command_on("fathom ops TRACE\nfathom kernels TRACE", "a"),
            "fathom ops a\nfathom kernels a");
  EXPECT_EQ(command_on("fathom ops TRACE", "TRACE.json"), "fathom ops TRACE.json");
}

TEST(CommandOn, LeavesThePlaceOpenForStandardInput) {
  EXPECT_EQ(command_on("fathom ops TRACE", "-"), "fathom ops TRACE");
}

TEST(CommandOn, MakesNoOptionOfAName) {
  EXPECT_EQ(command_on("fathom ops TRACE", "-x.json"), "fathom ops ./-x.json");
}

TEST(ShellWord, ShowsControlCharacters) { EXPECT_EQ(shell_word("a\nb"), "'a␊b'"); }

}  // namespace
}  // namespace fathom
