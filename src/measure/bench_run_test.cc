// How runs say that memory did not suffice.
#include "measure/bench_run.h"

#include <csignal>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

constexpr int kExitCodeOne = 1 << 8;

ChildRun ended(int status, std::string_view words) {
  ChildRun run;
  run.status = status;
  run.said_no_memory = says_no_memory(words);
  return run;
}

TEST(OutOfMemory, IsKnownByWhatProgramsSayOfIt) {
  for (const char* const words : {
           "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
           "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't "
           "allocate memory: you tried to allocate 4096 bytes.",
           "MemoryError",
           "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB",
           "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
           "std::bad_alloc",
           "fork: Cannot allocate memory",
       }) {
    EXPECT_TRUE(out_of_memory(ended(kExitCodeOne, words), false)) << words;
  }
}

TEST(OutOfMemory, IsNoOtherFailure) {
  EXPECT_FALSE(out_of_memory(ended(kExitCodeOne, "ValueError: batch"), false));
  EXPECT_FALSE(out_of_memory(ended(SIGSEGV, ""), true));
  EXPECT_FALSE(out_of_memory(ended(0, "warning: out of memory, retried"), false));
}

TEST(OutOfMemory, IsAKillWhereTheKernelKilledForMemory) {
  EXPECT_TRUE(out_of_memory(ended(SIGKILL, ""), true));
  EXPECT_FALSE(out_of_memory(ended(SIGKILL, ""), false));
}

}  // namespace
}  // namespace fathom::measure
