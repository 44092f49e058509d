#include "sample/task.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock_words.h"
#include "sample/made_memory.h"
#include "sample/system_call.h"

namespace fathom::sample {
namespace {

Task task_in(std::int64_t call, std::uint64_t first, std::uint64_t second = 0) {
  Task task;
  task.id = getpid();
  task.state = 'S';
  task.call = call;
  task.arguments = {first, second};
  return task;
}

Wait wait_in(std::int64_t call, std::uint64_t first, std::uint64_t second = 0,
             const std::vector<Gil>& gils = {}) {
  const MadeMemory memory;
  return wait_of(getpid(), memory, task_in(call, first, second), gils);
}

TEST(Task, ACallHasANumberAndArguments) {
  Task task;
  parse_call("202 0x7f00 0x80 0x0 0x0 0x0 0xffffffffffffffff 0x7ffd 0x7f11\n", task);
  EXPECT_EQ(task.call, 202);
  EXPECT_EQ(task.arguments[0], 0x7f00U);
  EXPECT_EQ(task.arguments[1], 0x80U);
  EXPECT_EQ(task.arguments[5], ~std::uint64_t{0});
  for (const char* text : {"running\n", "", "x", "-"}) {
    Task none;
    parse_call(text, none);
    EXPECT_FALSE(none.call) << text;
  }
  Task cut;
  parse_call("7 0x12 0", cut);
  EXPECT_EQ(cut.arguments[0], 0x12U);
  EXPECT_EQ(cut.arguments[1], 0U);
}

TEST(Task, CallsHaveTheirNamesAndWhatTheyTake) {
  EXPECT_EQ(system_call(SYS_futex).name, "futex");
  EXPECT_EQ(system_call(SYS_read).operand, Operand::file);
  EXPECT_EQ(system_call(-1).name, "");
  EXPECT_EQ(system_call(1 << 30).name, "");
}

TEST(Task, WhoNamesAFileWaitsForOne) {
  for (const std::int64_t call : {SYS_openat, SYS_unlinkat, SYS_renameat2, SYS_sync}) {
    const Wait wait = wait_in(call, 0x7f0000001000);
    EXPECT_EQ(wait.kind, WaitKind::file) << call;
    EXPECT_TRUE(wait.objects.empty()) << "an address is no number of a file";
    EXPECT_EQ(wait.call, system_call(call).name);
  }
}

TEST(Task, WhoSyncsWaitsForTheDisk) {
  for (const std::int64_t call : {SYS_fsync, SYS_fdatasync, SYS_msync, SYS_sync, SYS_syncfs}) {
    const Wait wait = wait_in(call, 987654);
    EXPECT_EQ(wait.kind, WaitKind::file) << call;
    EXPECT_EQ(cause_of(wait), "sync") << call;
  }
  EXPECT_EQ(cause_of(wait_in(SYS_read, 987654)), "file");
  EXPECT_EQ(cause_of(wait_in(SYS_futex, 0x1000)), "lock");
}

TEST(Task, WhoWaitsAtTheGilsAddressWaitsForIt) {
  const Gil gil{.interpreter = 1, .address = 0x1000, .holder = 0x2000};
  EXPECT_EQ(wait_in(SYS_futex, 0x1038, 0, {gil}).kind, WaitKind::gil);
  EXPECT_EQ(wait_in(SYS_futex, 0x0ff8, 0, {gil}).kind, WaitKind::lock);
  EXPECT_EQ(wait_in(SYS_futex, 0x2000, 0, {gil}).kind, WaitKind::lock);
  EXPECT_EQ(wait_in(SYS_futex, 0x1038).kind, WaitKind::lock);
}

TEST(Task, AMutexIsToldFromAConditionAndFromTheEndOfAThread) {
  const auto objects = [](std::uint64_t how, std::uint64_t expected) {
    Task task = task_in(SYS_futex, 0x7f00, how);
    task.arguments[2] = expected;
    const MadeMemory memory;
    const Wait wait = wait_of(getpid(), memory, task, {});
    EXPECT_EQ(wait.kind, WaitKind::lock);
    return wait.objects;
  };
  const std::vector<std::string> mutex = {std::string(kMutexObject)};
  const std::vector<std::string> shared = {std::string(kSharedSemaphoreObject)};
  EXPECT_EQ(objects(0x80, 2), mutex);
  EXPECT_EQ(objects(0x00, 2), mutex) << "between processes";
  EXPECT_EQ(objects(0x86, 0), mutex) << "with inherited priority";
  EXPECT_EQ(objects(0x109, 0), shared);
  EXPECT_TRUE(objects(0x189, 0).empty()) << "a condition, or a lock of Python's";
  EXPECT_TRUE(objects(0x109, 4711).empty()) << "the end of a thread";
  EXPECT_TRUE(objects(0x80, 0).empty());
}

TEST(Task, AMutexOfThisProcessIsSeenAsOne) {
  std::mutex mutex;
  mutex.lock();
  std::atomic<pid_t> id = 0;
  std::thread waits([&] {
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    const std::lock_guard lock(mutex);
  });
  const MadeMemory memory;
  Wait wait;
  // It is on its way there; a kernel that does not show calls shows none.
  for (int i = 0; i < 100'000 && wait.objects.empty(); ++i) {
    std::this_thread::yield();
    if (id == 0) continue;
    const Task task = read_task(getpid(), id);
    if (task.state == 'S' && !task.call) break;
    wait = wait_of(getpid(), memory, task, {});
  }
  mutex.unlock();
  waits.join();
  if (wait.kind == WaitKind::none) GTEST_SKIP() << "the kernel shows no system calls";
  ASSERT_EQ(wait.kind, WaitKind::lock);
  EXPECT_EQ(wait.objects, std::vector<std::string>{std::string(kMutexObject)});
}

TEST(Task, AFileIsNamed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Wait wait = wait_in(SYS_read, static_cast<std::uint64_t>(ends[0]));
  EXPECT_EQ(wait.kind, WaitKind::file);
  EXPECT_EQ(wait.call, "read");
  ASSERT_EQ(wait.objects.size(), 1U);
  EXPECT_TRUE(wait.objects[0].starts_with("pipe:[")) << wait.objects[0];
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(wait_in(SYS_read, 987654).objects[0], "file descriptor 987654");
}

TEST(Task, TimesChildrenAndUnknownCalls) {
  EXPECT_EQ(wait_in(SYS_clock_nanosleep, 1).kind, WaitKind::sleep);
  EXPECT_EQ(wait_in(SYS_pselect6, 0).kind, WaitKind::sleep);
  EXPECT_EQ(wait_in(SYS_pselect6, 5).kind, WaitKind::poll);
  EXPECT_EQ(wait_in(SYS_ppoll, 0, 0).kind, WaitKind::sleep);
  EXPECT_EQ(wait_in(SYS_wait4, 17).objects[0], "process 17");
  EXPECT_EQ(wait_in(SYS_wait4, ~std::uint64_t{0}).objects[0], "any child");
  EXPECT_EQ(wait_in(99999, 0).call, "system call 99999");
  Task running = task_in(SYS_read, 0);
  running.state = 'R';
  const MadeMemory memory;
  EXPECT_EQ(wait_of(getpid(), memory, running, {}).kind, WaitKind::none);
}

TEST(Task, APollNamesWhatItPolls) {
  MadeMemory memory;
  memory.map(0x1000, 64);
  memory.put<std::int32_t>(0x1000, 987654);
  memory.put<std::int32_t>(0x1008, -1);
  const Wait wait = wait_of(getpid(), memory, task_in(SYS_ppoll, 0x1000, 2), {});
  EXPECT_EQ(wait.kind, WaitKind::poll);
  ASSERT_EQ(wait.objects.size(), 1U);
  EXPECT_EQ(wait.objects[0], "file descriptor 987654");
  // More than there can be, and nothing at the address.
  EXPECT_TRUE(wait_of(getpid(), memory, task_in(SYS_ppoll, 0x9000, ~0ULL), {}).objects.empty());
}

TEST(Task, ThreadsAreCountedWithoutListingThem) {
  const auto before = static_cast<std::int64_t>(task_ids(getpid()).size());
  EXPECT_EQ(task_count(getpid()), before);
  std::promise<void> end;
  std::thread another([&] { end.get_future().wait(); });
  EXPECT_EQ(task_count(getpid()), before + 1);
  end.set_value();
  another.join();
  EXPECT_EQ(task_count(999'999'999), -1);
}

TEST(Task, ThisProcessHasThisThread) {
  const std::vector<Task> tasks = read_tasks(getpid());
  const auto self = std::ranges::find(tasks, getpid(), &Task::id);
  ASSERT_NE(self, tasks.end());
  EXPECT_EQ(self->native, getpid());
  EXPECT_EQ(self->state, 'R');
  EXPECT_FALSE(self->name.empty());
  if (self->on_cpu.value_or(0) > 0) {
    EXPECT_GT(self->switches, 0);
  }
  EXPECT_TRUE(read_tasks(-1).empty());
}

}  // namespace
}  // namespace fathom::sample
