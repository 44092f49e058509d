#include "sample/task.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

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

TEST(Task, WhoWaitsAtTheGilsAddressWaitsForIt) {
  const Gil gil{.interpreter = 1, .address = 0x1000, .holder = 0x2000};
  EXPECT_EQ(wait_in(SYS_futex, 0x1038, 0, {gil}).kind, WaitKind::gil);
  EXPECT_EQ(wait_in(SYS_futex, 0x0ff8, 0, {gil}).kind, WaitKind::lock);
  EXPECT_EQ(wait_in(SYS_futex, 0x2000, 0, {gil}).kind, WaitKind::lock);
  EXPECT_EQ(wait_in(SYS_futex, 0x1038).kind, WaitKind::lock);
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
