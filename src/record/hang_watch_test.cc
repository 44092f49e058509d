// Which thread a program hangs in.
#include "record/hang_watch.h"

#include <utility>

#include <gtest/gtest.h>

namespace fathom::record {
namespace {

using sample::ProcessLook;
using sample::ThreadLook;
using sample::WaitKind;

ThreadLook thread(pid_t tid, WaitKind waits, const std::string& function) {
  ThreadLook look;
  look.task.id = tid;
  look.task.name = "python";
  look.task.state = 'S';
  look.wait.kind = waits;
  if (!function.empty())
    look.frames.push_back({.function = function, .file = "train.py", .line = 12});
  return look;
}

ProcessLook process(pid_t pid, pid_t parent, std::vector<ThreadLook> threads) {
  ProcessLook look;
  look.pid = pid;
  look.parent = parent;
  look.threads = std::move(threads);
  return look;
}

TEST(OddThread, IsTheMainOne) {
  const std::vector<ProcessLook> looks = {
      process(7, 1, {thread(9, WaitKind::sleep, "watch"), thread(7, WaitKind::lock, "acquire")})};
  EXPECT_EQ(odd_thread(looks), "thread 7 python waits (lock) in acquire (train.py:12)");
}

TEST(OddThread, IsThatOfTheChildThatIsWaitedFor) {
  const std::vector<ProcessLook> looks = {process(7, 1, {thread(7, WaitKind::child, "")}),
                                          process(8, 7, {thread(8, WaitKind::child, "wait")}),
                                          process(9, 8, {thread(9, WaitKind::file, "recv")}),
                                          process(10, 8, {thread(10, WaitKind::lock, "get")})};
  EXPECT_EQ(odd_thread(looks), "thread 9 python waits (file) in recv (train.py:12)");
}

TEST(OddThread, MayBeOneWithoutPython) {
  EXPECT_EQ(odd_thread({process(7, 1, {thread(7, WaitKind::none, "")})}),
            "thread 7 python is sleeping");
  EXPECT_EQ(odd_thread({process(7, 1, {})}), "");
  EXPECT_EQ(odd_thread({}), "");
}

}  // namespace
}  // namespace fathom::record
