#include "base/shell_word.h"

#include <array>
#include <cstdio>
#include <memory>

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

TEST(ShellWord, QuotesBracesThatBashExpands) {
  EXPECT_EQ(shell_word("--batch={n}"), "--batch={n}");
  EXPECT_EQ(shell_word("{a,b}"), "'{a,b}'");
  EXPECT_EQ(shell_word("{1..3}"), "'{1..3}'");
}

TEST(ShellWord, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(shell_word("a\nb"), "$'a\\nb'");
  EXPECT_EQ(shell_word("a\tb's\\"), "$'a\\tb\\'s\\\\'");
  EXPECT_EQ(shell_word("\x1b[2J"), "$'\\033[2J'");
  EXPECT_EQ(shell_word("\3771ä"), "$'\\3771ä'");
  EXPECT_EQ(shell_word("a\u202eb"), "$'a\\342\\200\\256b'");
  EXPECT_EQ(shell_word("größe"), "'größe'");
}

TEST(ShellWord, IsReadBackByBash) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& word : {all, std::string("a\n"), std::string("-n"), std::string("$'x'\n"),
                                  std::string("{a,b}"), std::string("\\\\\n\\")}) {
    // As one word of bash, which hands it on as it is.
    const std::string command = "bash -c " + shell_word("printf %s " + shell_word(word)) + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> out(
        popen(("exec bash <<'END'\n" + command + "\nEND\n").c_str(), "r"), pclose);
    ASSERT_NE(out, nullptr);
    std::array<char, 1024> text{};
    const std::size_t size = std::fread(text.data(), 1, text.size(), out.get());
    EXPECT_EQ(std::string(text.data(), size), word) << command;
  }
}

TEST(CommandLine, QuotesEachWord) {
  EXPECT_EQ(command_line({"sh", "-c", "a | b", ""}), "sh -c 'a | b' ''");
}

}  // namespace
}  // namespace fathom
