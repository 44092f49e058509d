#include "cli/options.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

/// A subcommand with an option of each kind.
struct Command {
  bool quiet = false;
  bool all = false;
  std::string output;
  Words filters;
  int limit = 0;
  Words files;
  Options options;

  Command() {
    options.flag("-q,--quiet", quiet, "");
    options.flag("-a,--all", all, "");
    options.text("-o,--output", "FILE", output, "");
    options.list("--filter", "TEXT", filters, "");
    options.parsed(
        "--limit", "N",
        [this](const std::string& text) -> Result<void> {
          if (text != "5") return Error{ErrorCode::invalid_argument, "not 5"};
          limit = 5;
          return {};
        },
        "");
    options.operands("FILE", files, 1);
  }
  /// The message, or "".
  std::string parse(const Words& words) {
    const Result<void> done = options.parse(words);
    return done ? "" : done.error().message;
  }
};

TEST(Options, TakeValuesInEveryUsualForm) {
  for (const Words& words :
       {Words{"-o", "out", "-q", "-a", "in"}, Words{"-oout", "-qa", "in"},
        Words{"--output", "out", "--quiet", "--all", "in"}, Words{"in", "--output=out", "-aq"},
        Words{"--output=first", "-qaoout", "in"}}) {
    Command command;
    EXPECT_EQ(command.parse(words), "");
    EXPECT_EQ(command.output, "out");
    EXPECT_TRUE(command.quiet && command.all);
    EXPECT_EQ(command.files, Words{"in"});
  }
}

TEST(Options, TakeWhatFollowsAsTheValueWhateverItIs) {
  Command command;
  EXPECT_EQ(command.parse({"--filter", "-1", "--filter=", "--filter", "--quiet", "in"}), "");
  EXPECT_EQ(command.filters, (Words{"-1", "", "--quiet"}));
  EXPECT_FALSE(command.quiet);
}

TEST(Options, TakeSeveralWordsUpToTheNextOption) {
  Words base;
  Words now;
  Words left;
  Options options;
  options.words("--base", "RUN…", base, "");
  options.words("--new", "RUN…", now, "");
  options.operands("FILE", left, 0);
  EXPECT_TRUE(
      options.parse(Words{"--base", "a", "-", "--new", "b", "c", "--base", "-d", "e"}).ok());
  EXPECT_EQ(base, (Words{"a", "-", "-d", "e"}));
  EXPECT_EQ(now, (Words{"b", "c"}));
  EXPECT_EQ(left, Words{});
  EXPECT_TRUE(options.parse(Words{"--base=a", "b", "--new", "c", "--", "d"}).ok());
  EXPECT_EQ(base, Words{"a"});
  EXPECT_EQ(now, Words{"c"});
  EXPECT_EQ(left, (Words{"b", "d"}));
  EXPECT_EQ(options.parse(Words{"--base"}).error().message, "--base needs a value: --base RUN…");
}

TEST(Options, OfAParsedOptionOnlyTheLastValueCounts) {
  Command command;
  EXPECT_EQ(command.parse({"--limit", "x", "--limit", "5", "in"}), "");
  EXPECT_EQ(command.limit, 5);
  EXPECT_EQ(Command().parse({"--limit", "5", "--limit", "x", "in"}), "--limit: not 5");
}

TEST(Options, AfterTwoDashesAllAreOperands) {
  Command command;
  EXPECT_EQ(command.parse({"-", "--", "--quiet", "--", "-o"}), "");
  EXPECT_EQ(command.files, (Words{"-", "--quiet", "--", "-o"}));
}

TEST(Options, RefuseWithTheReason) {
  EXPECT_EQ(Command().parse({"in", "--output"}), "--output needs a value: --output FILE");
  EXPECT_EQ(Command().parse({"in", "-o"}), "--output needs a value: --output FILE");
  EXPECT_EQ(Command().parse({"in", "--quiet=yes"}), "--quiet takes no value");
  EXPECT_EQ(Command().parse({"in", "--quite"}),
            "there is no option --quite; did you mean --quiet?");
  EXPECT_EQ(Command().parse({"in", "--base"}), "there is no option --base") << "nor like --all";
  EXPECT_EQ(Command().parse({"in", "--limit", "x", "-z"}), "there is no option -z");
  EXPECT_EQ(Command().parse({"in", "-qz"}), "there is no option -qz");
  EXPECT_EQ(Command().parse({"--quiet"}), "FILE is missing");
  Options none;
  const Result<void> refused = none.parse(Words{"one", "two"});
  EXPECT_EQ(refused.error().message, "there is one argument too many: 'one'");
}

TEST(Options, LeaveAnotherCommandLineAlone) {
  for (const Words& words : {Words{"--limit", "5", "python", "-q", "--", "x"},
                             Words{"--limit", "5", "--", "python", "-q", "--", "x"}}) {
    Words rest;
    Options options;
    int limit = 0;
    options.parsed(
        "--limit", "N",
        [&limit](const std::string& text) -> Result<void> {
          limit = std::stoi(text);
          return {};
        },
        "");
    options.rest("COMMAND", rest);
    EXPECT_TRUE(options.parse(words).ok());
    EXPECT_EQ(limit, 5);
    EXPECT_EQ(rest, (Words{"python", "-q", "--", "x"}));
  }
}

}  // namespace
}  // namespace fathom::cli
