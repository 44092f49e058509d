// What is known of a child that has ended, by how much memory it was forked with.
#include "capture/launcher/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::capture {
namespace {

/// A child that has ended and that nobody has looked at in /proc before.
Launched ended_child(std::int64_t fork_memory) {
  const pid_t pid = fork();
  if (pid == 0) _exit(3);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  return {.pid = pid, .started = wire::monotonic_ns(), .fork_memory = fork_memory};
}

TEST(ProcessTree, MemoryThatAChildWasForkedWithIsNoPeakOfItsOwn) {
  ProcessTree tree(ended_child(std::int64_t{1} << 50U), {"program"}, nullptr);
  tree.reap();
  const Process& child = tree.main();
  EXPECT_FALSE(child.running());
  EXPECT_TRUE(child.exact);
  ASSERT_TRUE(child.status.has_value());
  EXPECT_EQ(WEXITSTATUS(*child.status), 3);
  EXPECT_EQ(child.peak, -1);
}

TEST(ProcessTree, MemoryBeyondThatIsItsPeak) {
  ProcessTree tree(ended_child(0), {"program"}, nullptr);
  tree.reap();
  EXPECT_FALSE(tree.main().running());
  EXPECT_GT(tree.main().peak, 0);
}

}  // namespace
}  // namespace fathom::capture
