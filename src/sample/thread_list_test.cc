// The threads of a made CPython.
#include "sample/thread_list.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sample/made_python.h"

namespace fathom::sample {
namespace {

constexpr Address kRuntime = 0x70000;
constexpr Address kThreads = 0x80000;
constexpr Address kBytes = 4096;

/// With so many threads, whose numbers are 100, 101 …
struct Listed {
  explicit Listed(std::size_t threads) {
    const Layout& layout = python.layout;
    runtime.address = kRuntime;
    runtime.layout = layout;
    python.memory.map(kRuntime, kBytes);
    python.memory.map(kThreads, threads * kBytes);
    python.memory.put<Address>(kRuntime + layout.interpreters, MadePython::kInterpreter);
    python.memory.put<Address>(MadePython::kInterpreter + layout.interpreter_threads, kThreads);
    for (std::size_t i = 0; i < threads; ++i) {
      const Address at = kThreads + i * kBytes;
      const Address next = i + 1 < threads ? at + kBytes : 0;
      python.memory.put<Address>(at + layout.thread_interpreter, MadePython::kInterpreter);
      python.memory.put<Address>(at + layout.thread_pthread, at + 1);
      python.memory.put<std::int64_t>(at + layout.thread_native,
                                      static_cast<std::int64_t>(100 + i));
      python.memory.put<Address>(at + layout.thread_next, next);
    }
  }
  ThreadList read() { return read_threads(python.memory, runtime, {100}); }

  MadePython python;
  Runtime runtime;
};

std::size_t calls(std::size_t threads) {
  Listed listed(threads);
  EXPECT_EQ(listed.read().threads.size(), threads);
  return listed.python.memory.calls();
}

TEST(ThreadList, HasEachThread) {
  Listed listed(3);
  const ThreadList list = listed.read();
  EXPECT_TRUE(list.complete);
  ASSERT_EQ(list.threads.size(), 3U);
  EXPECT_EQ(list.threads[1].address, kThreads + kBytes);
  EXPECT_EQ(list.threads[1].interpreter, MadePython::kInterpreter);
  EXPECT_EQ(list.threads[1].pthread, kThreads + kBytes + 1);
  EXPECT_EQ(list.threads[2].native, 102);
}

TEST(ThreadList, AThreadOfAnotherInterpreterEndsIt) {
  Listed listed(3);
  listed.python.memory.put<Address>(kThreads + kBytes + listed.python.layout.thread_interpreter, 8);
  const ThreadList list = listed.read();
  EXPECT_FALSE(list.complete);
  EXPECT_EQ(list.threads.size(), 1U);
}

TEST(ThreadList, EachThreadCostsOneCall) { EXPECT_EQ(calls(9) - calls(8), 1U); }

}  // namespace
}  // namespace fathom::sample
