#include "analysis/samples/stack_roles.h"

#include <string>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "base/lock_words.h"

namespace fathom {
namespace {

constexpr std::string_view kLib = "/usr/lib/python3.11";

std::string in_lib(std::string_view function, std::string_view file, int line = 1) {
  return std::string(function) + " " + std::string(kLib) + "/" + std::string(file) + " " +
         std::to_string(line);
}

/// Of a wait with this stack, beside another thread of Python or alone.
WaitClass wait_of(const std::string& stack, std::string_view cause, bool alone = false) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at(stack).waits(cause, 5);
  if (!alone) builder.thread(1, 2).at("other app.py 30").runs(5);
  return StackRoles(trace).wait_of(trace.stack_samples.front());
}

TEST(StackRoles, ALockIsContendedWhereTheProgramItselfAsksForIt) {
  EXPECT_EQ(wait_of("main app.py 1;update app.py 7", "lock"), WaitClass::lock);
  const std::string semaphore = "main app.py 1;" + in_lib("Semaphore.acquire", "threading.py") +
                                ";" + in_lib("Condition.wait", "threading.py");
  EXPECT_EQ(wait_of(semaphore, "lock"), WaitClass::lock);
}

TEST(StackRoles, WhoWaitsForADiskWaitsForAFile) {
  EXPECT_EQ(wait_of("store app.py 7", "sync"), WaitClass::file);
  Trace trace;
  SampleBuilder(trace).at("store app.py 7").waits("sync", 5).waits("file", 5);
  const StackRoles roles(trace);
  EXPECT_TRUE(roles.waits_for_disk(trace.stack_samples[0]));
  EXPECT_FALSE(roles.waits_for_disk(trace.stack_samples[1]));
}

bool in_sqlite(const std::string& stack) {
  Trace trace;
  SampleBuilder(trace).at(stack).runs(5);
  return StackRoles(trace).in_sqlite(trace.stack_samples.front().frame);
}

TEST(StackRoles, SqliteIsKnownByItsLibraryAndByItsFunctions) {
  EXPECT_TRUE(
      in_sqlite("ask app.py 1;+0x1 /opt/lib/libsqlite3.so.0 -1;read /usr/lib/libc.so.6 -1"));
  EXPECT_TRUE(in_sqlite("ask app.py 1;commit /usr/lib-dynload/_sqlite3.cpython-311.so -1"));
  EXPECT_TRUE(in_sqlite("main /opt/app -1;sqlite3_step /opt/app -1"));
  EXPECT_FALSE(in_sqlite("sqlite3_like app.py 1")) << "a function of Python";
  EXPECT_FALSE(in_sqlite("main /opt/test_sqlite3.py 1"));
  EXPECT_FALSE(in_sqlite("main /opt/app -1;fsync /usr/lib/libc.so.6 -1"));
}

TEST(StackRoles, WhoWaitsForTheEndOrTheWorkOfOthersWaitsForNoLock) {
  const std::string join = "main app.py 1;" + in_lib("Thread.join", "threading.py") + ";" +
                           in_lib("Thread._wait_for_tstate_lock", "threading.py");
  EXPECT_EQ(wait_of(join, "lock"), WaitClass::threads);
  const std::string queue = "work app.py 1;" + in_lib("Queue.get", "queue.py") + ";" +
                            in_lib("Condition.wait", "threading.py");
  EXPECT_EQ(wait_of(queue, "lock"), WaitClass::threads);
  const std::string pool = in_lib("_worker", "concurrent/futures/thread.py");
  EXPECT_EQ(wait_of(pool, "lock"), WaitClass::threads);
}

TEST(StackRoles, ALoneThreadOfPythonWaitsForNoLockOfTheProgram) {
  EXPECT_EQ(wait_of("main app.py 1;query app.py 7", "lock", true), WaitClass::threads);
}

/// Of a wait of a process's only thread of Python.
WaitClass lock_wait(const std::string& stack, std::string_view object) {
  Trace trace;
  SampleBuilder(trace).at(stack).waits("lock", 5, object);
  return StackRoles(trace).wait_of(trace.stack_samples.front());
}

TEST(StackRoles, AMutexIsALockWhoeverWaitsForIt) {
  EXPECT_EQ(lock_wait("", kMutexObject), WaitClass::lock);
  EXPECT_EQ(lock_wait("main app.py 1", kMutexObject), WaitClass::lock);
  EXPECT_EQ(lock_wait("", "futex"), WaitClass::threads) << "a condition: it waits for work";
  const std::string ticker = "Ticker._loop /opt/fathom_hook/fathom_recorder/ticker.py 70";
  EXPECT_EQ(lock_wait(ticker, kMutexObject), WaitClass::threads);
}

TEST(StackRoles, OfNativeCodeTheFunctionsTellALockFromAWaitForWork) {
  const std::string work = "main /opt/solver -1;update /opt/solver -1;";
  const std::string libc = " /usr/lib/libc.so.6 -1";
  EXPECT_EQ(wait_of(work + "pthread_rwlock_wrlock" + libc + ";libc.so.6+0x1230" + libc, "lock"),
            WaitClass::lock);
  EXPECT_EQ(wait_of(work + "___pthread_mutex_lock" + libc + ";__lll_lock_wait" + libc, "lock"),
            WaitClass::lock);
  EXPECT_EQ(wait_of(work + "pthread_cond_wait" + libc + ";libc.so.6+0x1230" + libc, "lock"),
            WaitClass::threads);
  EXPECT_EQ(wait_of(work + "pthread_join" + libc, "lock"), WaitClass::threads);
  EXPECT_EQ(wait_of("main /opt/solver -1;my_rwlock_wrlock /opt/solver -1", "lock"),
            WaitClass::threads);
  EXPECT_EQ(lock_wait(work + "pthread_cond_wait" + libc, kMutexObject), WaitClass::lock)
      << "it has been woken, and takes the mutex again";
  EXPECT_EQ(lock_wait(work + "sem_wait" + libc, kSharedSemaphoreObject), WaitClass::threads);
}

TEST(StackRoles, ALibraryThatPythonCallsWaitsForItsOwnThreadsOrForALock) {
  const std::string calls = "main app.py 1;solve app.py 7;dgemm /opt/libblas.so -1;";
  const std::string libc = " /usr/lib/libc.so.6 -1";
  EXPECT_EQ(wait_of(calls + "pthread_cond_wait" + libc, "lock"), WaitClass::threads);
  EXPECT_EQ(wait_of(calls + "pthread_rwlock_wrlock" + libc, "lock"), WaitClass::lock);
  EXPECT_EQ(lock_wait(calls + "__lll_lock_wait" + libc, "futex"), WaitClass::lock);
  // A queue written in C.
  const std::string queue = " /usr/lib/python3.11/lib-dynload/_queue.so -1";
  EXPECT_EQ(wait_of("main app.py 1;work app.py 7;SimpleQueue_get" + queue, "lock"),
            WaitClass::threads);
  // What a program reads by a library counts as what it reads itself.
  EXPECT_EQ(wait_of(calls + "read" + libc, "file"), WaitClass::file);
}

TEST(StackRoles, NativeFunctionsAloneAreNoPython) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("main /opt/solver -1")
      .runs(5)
      .thread(1, 2)
      .at("spin /opt/solver -1")
      .runs(5)
      .thread(2, 3)
      .at("main app.py 3;array_add /usr/lib/numpy.so -1")
      .runs(5)
      .waits("lock", 5);
  const StackRoles roles(trace);
  EXPECT_FALSE(roles.python(trace.stack_samples[0].frame));
  EXPECT_TRUE(roles.python(trace.stack_samples[2].frame));
  EXPECT_FALSE(roles.python(kNoFrame));
}

TEST(StackRoles, ALockBetweenProcessesNeedsNoSecondThread) {
  const std::string enter = in_lib("SemLock.__enter__", "multiprocessing/synchronize.py");
  EXPECT_EQ(lock_wait("main app.py 1;update app.py 7", kSharedSemaphoreObject), WaitClass::lock);
  EXPECT_EQ(lock_wait("main app.py 1;update app.py 7;" + enter, kSharedSemaphoreObject),
            WaitClass::lock);
  // A queue takes one to read what is there: its reader has no work.
  const std::string reads = in_lib("SimpleQueue.get", "multiprocessing/queues.py");
  EXPECT_EQ(lock_wait("main app.py 1;" + reads + ";" + enter, kSharedSemaphoreObject),
            WaitClass::threads);
  EXPECT_EQ(lock_wait("main app.py 1;" + reads, kSharedSemaphoreObject), WaitClass::threads);
  const std::string event = in_lib("Condition.wait", "multiprocessing/synchronize.py");
  EXPECT_EQ(lock_wait("main app.py 1;" + event, kSharedSemaphoreObject), WaitClass::threads);
  EXPECT_EQ(lock_wait("", kSharedSemaphoreObject), WaitClass::threads);
}

TEST(StackRoles, FathomsOwnThreadIsNoneOfTheProgram) {
  const std::string ticker = "Ticker._loop /opt/fathom_hook/fathom_recorder/ticker.py 70";
  EXPECT_EQ(wait_of(ticker, "lock"), WaitClass::threads);
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 2)
      .at(ticker)
      .waits("lock", 5)
      .thread(1, 1)
      .at("f app.py 1")
      .waits("lock", 5);
  EXPECT_EQ(StackRoles(trace).wait_of(trace.stack_samples[1]), WaitClass::threads);
}

/// The function whose time a sample with this stack is.
std::string place(const std::string& stack) {
  Trace trace;
  SampleBuilder(trace).at(stack).runs(1);
  const std::uint32_t frame = StackRoles(trace).user_frame(trace.stack_samples.front().frame);
  return std::string(trace.text(trace.stack_frames[frame].function));
}

TEST(StackRoles, WhatTheRecorderDoesAtTheStartHasOnePlace) {
  const std::string start = in_lib("main", "site.py") + ";<module> /tmp/s/hook/sitecustomize.py 60";
  const std::string imports = in_lib("get_data", "importlib/_bootstrap_external.py");
  EXPECT_EQ(place(start), "<module>");
  EXPECT_EQ(place(start + ";begin /tmp/s/hook/fathom_recorder/__init__.py 9;" + imports),
            "<module>");
  const std::string around = "run /tmp/s/hook/fathom_recorder/threads.py 30;";
  EXPECT_EQ(place(around + "work app.py 1;" + imports), "work");
  EXPECT_EQ(place(around + imports), "get_data") << "a thread of the program";
  EXPECT_EQ(place("main app.py 1;step /tmp/s/hook/fathom_recorder/steps.py 9"), "main");
}

TEST(StackRoles, TheOutputOfAChildIsWaitedForAsTheChildIs) {
  const std::string run = "main app.py 1;" + in_lib("run", "subprocess.py") + ";" +
                          in_lib("communicate", "subprocess.py");
  EXPECT_EQ(wait_of(run, "file"), WaitClass::child);
  EXPECT_EQ(wait_of(run + ";" + in_lib("select", "selectors.py"), "poll"), WaitClass::child);
  EXPECT_EQ(wait_of("main app.py 1;" + in_lib("wait", "multiprocessing/connection.py") + ";" +
                        in_lib("select", "selectors.py"),
                    "poll"),
            WaitClass::threads);
  EXPECT_EQ(wait_of("main app.py 1;" + in_lib("select", "selectors.py"), "poll"), WaitClass::file);
}

TEST(StackRoles, CausesOfTheKernelAreKept) {
  EXPECT_EQ(wait_of("main app.py 1", "gil"), WaitClass::gil);
  EXPECT_EQ(wait_of("main app.py 1", "sleep"), WaitClass::sleep);
  EXPECT_EQ(wait_of("main app.py 1", "file"), WaitClass::file);
  EXPECT_EQ(wait_of("main app.py 1", "child"), WaitClass::child);
  EXPECT_EQ(wait_of("main app.py 1", "none"), WaitClass::other);
  EXPECT_EQ(wait_of("", "lock"), WaitClass::threads);
}

TEST(StackRoles, ALoopWithoutWorkIsNotATaskThatWaits) {
  const std::string loop = "main app.py 1;" + in_lib("run", "asyncio/runners.py") + ";" +
                           in_lib("BaseEventLoop._run_once", "asyncio/base_events.py");
  EXPECT_EQ(wait_of(loop + ";" + in_lib("EpollSelector.select", "selectors.py"), "poll"),
            WaitClass::loop);
  // What epoll waits at is a descriptor.
  EXPECT_EQ(wait_of(loop + ";" + in_lib("EpollSelector.select", "selectors.py"), "file"),
            WaitClass::loop);
  const std::string task =
      loop + ";" + in_lib("Handle._run", "asyncio/events.py") + ";fetch app.py 9";
  EXPECT_EQ(wait_of(task, "sleep"), WaitClass::sleep);
}

TEST(StackRoles, TheCallbackIsWhatTheLoopCalled) {
  Trace trace;
  const std::string loop = "main app.py 1;" + in_lib("_run_once", "asyncio/base_events.py");
  SampleBuilder(trace)
      .at(loop + ";" + in_lib("Handle._run", "asyncio/events.py") +
          ";fetch app.py 9;read app.py 20")
      .runs(1)
      .at(loop)
      .runs(1);
  const StackRoles roles(trace);
  const std::uint32_t callback = roles.callback(trace.stack_samples[0].frame);
  ASSERT_NE(callback, kNoFrame);
  EXPECT_EQ(trace.text(trace.stack_frames[callback].function), "fetch");
  EXPECT_EQ(roles.callback(trace.stack_samples[1].frame), kNoFrame);
  EXPECT_TRUE(roles.in_loop(trace.stack_samples[1].frame));
  EXPECT_FALSE(roles.in_loop(kNoFrame));
}

TEST(StackRoles, OfLibrariesTheProgramsOwnFunctionIsNamed) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;decode app.py 5;" + in_lib("JSONDecoder.decode", "json/decoder.py"))
      .runs(1)
      .at(in_lib("_bootstrap", "threading.py"))
      .runs(1);
  const StackRoles roles(trace);
  const auto name = [&](std::size_t sample) {
    const std::uint32_t frame = roles.user_frame(trace.stack_samples[sample].frame);
    return trace.text(trace.stack_frames[frame].function);
  };
  EXPECT_EQ(name(0), "decode");
  EXPECT_EQ(name(1), "_bootstrap");
  EXPECT_EQ(roles.user_frame(kNoFrame), kNoFrame);
}

TEST(StackRoles, NativeFunctionsAreOfThePythonFunctionThatCallsThem) {
  Trace trace;
  const std::string loop = in_lib("run_forever", "asyncio/base_events.py") + ";" +
                           in_lib("Handle._run", "asyncio/events.py");
  SampleBuilder(trace)
      .at("main app.py 1;spin /home/me/spin.so -1")
      .runs(1)
      .at(loop + ";context_run /home/me/loop.so -1;fetch app.py 9")
      .runs(1)
      .at("main /home/me/embeds -1;work app.py 3")
      .runs(1);
  const StackRoles roles(trace);
  const auto name = [&](std::uint32_t frame) {
    return trace.text(trace.stack_frames[frame].function);
  };
  EXPECT_EQ(name(roles.user_frame(trace.stack_samples[0].frame)), "main");
  const std::uint32_t callback = roles.callback(trace.stack_samples[1].frame);
  ASSERT_NE(callback, kNoFrame);
  EXPECT_EQ(name(callback), "fetch");
  EXPECT_EQ(name(roles.user_frame(trace.stack_samples[2].frame)), "work");
}

TEST(LibraryFiles, AreThoseOfPythonAndOfPackages) {
  EXPECT_TRUE(is_library_file("/usr/lib/python3.11/json/decoder.py"));
  EXPECT_TRUE(is_library_file("/x/.venv/lib/python3.12/site-packages/numpy/core.py"));
  EXPECT_TRUE(is_library_file("<frozen importlib._bootstrap>"));
  EXPECT_TRUE(is_library_file("/home/me/.pyenv/versions/3.11.7/bin/python3.11"));
  EXPECT_TRUE(is_library_file("/opt/lib/libpython3.12.so.1.0"));
  EXPECT_FALSE(is_library_file("/home/me/python3.py"));
  EXPECT_FALSE(is_library_file("/home/me/app.py"));
  EXPECT_FALSE(is_library_file("<string>"));
}

}  // namespace
}  // namespace fathom
