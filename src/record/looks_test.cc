// Looking at running processes, once and for a while: whose they are, and what there is to say.
#include <array>
#include <csignal>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/stack_sampling.h"
#include "record/tree_looks.h"

namespace fathom::record {
namespace {

/// A process that waits until it is ended, with a child that does so, too.
class Waiting {
 public:
  Waiting() {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const pid_t child = fork();
      if (child > 0 && write(pipe[1], &child, sizeof child) != sizeof child) _exit(1);
      for (;;) pause();
    }
    EXPECT_EQ(read(pipe[0], &child_, sizeof child_), static_cast<ssize_t>(sizeof child_));
    close(pipe[0]);
    close(pipe[1]);
  }
  ~Waiting() {
    if (child_ > 0) kill(child_, SIGKILL);
    end();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] pid_t child() const { return child_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  pid_t child_ = 0;
};

/// The number of a process that has ended.
pid_t nobody() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

void no_warning(const std::string& text) { ADD_FAILURE() << text; }

TEST(TreeLooks, AreOfTheProcessAndThenOfThoseBelowIt) {
  const Waiting waiting;
  const Result<TreeLooks> looks = look_at_trees(std::array{waiting.pid()}, {}, no_warning);
  ASSERT_TRUE(looks) << looks.error().message;
  ASSERT_EQ((*looks).processes.size(), 2U);
  EXPECT_EQ((*looks).processes[0].pid, waiting.pid());
  EXPECT_EQ((*looks).processes[1].pid, waiting.child());
  EXPECT_EQ((*looks).processes[1].parent, waiting.pid());
}

TEST(TreeLooks, AreOfNoOtherWhereItIsLookedAtAlone) {
  const Waiting waiting;
  const Result<TreeLooks> looks =
      look_at_trees(std::array{waiting.pid(), waiting.child()}, {.alone = true}, no_warning);
  ASSERT_TRUE(looks) << looks.error().message;
  ASSERT_EQ((*looks).processes.size(), 2U);
  EXPECT_EQ((*looks).processes[1].pid, waiting.child());
}

TEST(TreeLooks, AProcessThatIsNotThereIsAnError) {
  const Waiting waiting;
  const Result<TreeLooks> looks =
      look_at_trees(std::array{waiting.pid(), nobody()}, {}, no_warning);
  ASSERT_FALSE(looks);
  EXPECT_EQ(looks.error().code, ErrorCode::not_found);
}

TEST(StackSampling, EndsWithTheProcessAndItsWeightsSumUp) {
  Waiting waiting;
  auto sampling = StackSampling::open(waiting.pid(), {.rate = 1000, .alone = true});
  ASSERT_TRUE(sampling) << sampling.error().message;
  int asked = 0;
  const SampledStacks found = (*sampling)->run(std::chrono::hours(1), [&] {
    if (++asked == 3) waiting.end();
    return false;
  });
  const std::int64_t sum =
      std::accumulate(found.stacks.begin(), found.stacks.end(), std::int64_t{0},
                      [](std::int64_t before, const auto& stack) { return before + stack.on_cpu; });
  EXPECT_EQ(sum, found.on_cpu);
  EXPECT_GE(found.state.rounds, 1);
}

TEST(StackSampling, EndsWhereItIsAskedTo) {
  const Waiting waiting;
  auto sampling = StackSampling::open(waiting.pid(), {.alone = true});
  ASSERT_TRUE(sampling) << sampling.error().message;
  (*sampling)->run(std::chrono::hours(1), [] { return true; });
  EXPECT_EQ(kill(waiting.pid(), 0), 0) << "the process goes on";
}

TEST(StackSampling, OfAProcessThatIsNotThereIsAnError) {
  const auto sampling = StackSampling::open(nobody(), {});
  ASSERT_FALSE(sampling);
  EXPECT_EQ(sampling.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace fathom::record
