#include "measure/child.h"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::measure {
namespace {

using Shell = std::vector<std::string>;

Shell shell(const std::string& text) { return {"sh", "-c", text}; }

TEST(Child, IsTimedAndItsExitCodeKept) {
  ChildRunner runner;
  const Result<ChildRun> run = runner.run(shell("exit 3"), {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_GT(run->wall_ns, 0);
  EXPECT_FALSE(run->fine());
  EXPECT_EQ(ending_of(*run), "ended with exit code 3");
}

TEST(Child, ThatASignalEndsNamesIt) {
  ChildRunner runner;
  EXPECT_EQ(ending_of(*runner.run(shell("kill -SEGV $$"), {})), "was ended by SIGSEGV");
}

TEST(Child, HasNothingToReadAndPrintsNowhere) {
  ChildRunner runner;
  const Result<ChildRun> run = runner.run(shell("echo lost; cat; echo why >&2; exit 1"), {});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->last_words, "why");
  EXPECT_EQ(runner.run(shell("exit 1"), {})->last_words, "");
}

TEST(Child, KeepsOnlyTheEndOfManyErrors) {
  ChildRunner runner;
  const Result<ChildRun> run =
      runner.run(shell("i=0; while [ $i -lt 5000 ]; do echo $i; i=$((i+1)); done >&2"), {});
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->last_words.ends_with("4998\n4999")) << run->last_words;
  EXPECT_LE(run->last_words.size(), 600U);
}

TEST(Child, SaysThatMemoryIsOutHoweverMuchFollows) {
  ChildRunner runner;
  const std::string more = "head -c 700 /dev/zero | tr '\\0' x >&2; exit 1";
  for (const bool shown : {false, true}) {
    ChildOptions options;
    options.show_output = shown;
    EXPECT_TRUE(runner.run(shell("echo MemoryError >&2; " + more), options)->said_no_memory);
    EXPECT_FALSE(runner.run(shell("echo another >&2; exit 1"), options)->said_no_memory) << "anew";
  }
}

TEST(Child, WordsAboutMemoryMayComeInPieces) {
  MemoryWords words;
  for (const char* const piece : {"numpy: Memor", "y", "Err"}) words.see(piece);
  EXPECT_FALSE(words.seen());
  words.see("or\n");
  EXPECT_TRUE(words.seen());
}

/// A process that left the group may keep the pipe open.
TEST(Child, ThatIsShownIsNotWaitedForByWhatItLeft) {
  ChildRunner runner;
  ChildOptions options;
  options.show_output = true;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(runner.run(shell("setsid sleep 20 >/dev/null & :"), options)->fine());
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
}

TEST(Child, ThatTakesTooLongIsEndedWithWhatItStarted) {
  ChildRunner runner;
  const auto before = std::chrono::steady_clock::now();
  ChildOptions options;
  options.timeout = std::chrono::milliseconds(100);
  const Result<ChildRun> run = runner.run(shell("sleep 60 & sleep 60"), options);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ended, Ended::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST(Child, ThatASignalToTheWholeGroupEndsBeforeItHasAGroupOfItsOwnWasInterrupted) {
  ChildRunner runner;
  ChildOptions options;
  options.started = [](pid_t child) {
    kill(getpid(), SIGTERM);
    kill(child, SIGTERM);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  };
  const Result<ChildRun> run = runner.run({"sleep", "60"}, options);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ended, Ended::interrupted);
  EXPECT_EQ(runner.interrupted(), SIGTERM);
}

TEST(Child, LeavesNoBackgroundProcesses) {
  ChildRunner runner;
  const Result<ChildRun> run = runner.run(shell("sleep 60 & :"), {});
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->fine());
  EXPECT_TRUE(run->left_processes);
  EXPECT_FALSE(runner.run(shell(":"), {})->left_processes);
}

TEST(Child, IsInterruptedByASignalToUs) {
  ChildRunner runner;
  const Result<ChildRun> run = runner.run(shell("kill -INT $PPID; sleep 60"), {});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ended, Ended::interrupted);
  EXPECT_EQ(runner.interrupted(), SIGINT);
}

TEST(Child, ThatCannotBeStartedIsAnErrorWithTheReason) {
  ChildRunner runner;
  EXPECT_EQ(runner.run({"no-such-command-anywhere"}, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(runner.run({"/etc/passwd"}, {}).error().code, ErrorCode::unsupported);
  ChildOptions options;
  options.input = "/no/such/file";
  EXPECT_EQ(runner.run(shell(":"), options).error().code, ErrorCode::not_found);
}

TEST(Child, TellsThePeakMemoryWhereItIsMoreThanOurs) {
  ChildRunner runner;
  const Result<ChildRun> run =
      // Under the address sanitizer the tests before this one have taken half a gigabyte.
      runner.run(shell("dd if=/dev/zero of=/dev/null bs=1000M count=1 2>/dev/null"), {});
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->peak_bytes);
  EXPECT_GT(*run->peak_bytes, 1'000'000'000);
}

}  // namespace
}  // namespace fathom::measure
