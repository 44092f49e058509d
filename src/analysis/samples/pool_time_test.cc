#include "analysis/samples/pool_time.h"

#include <string>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"

namespace fathom {
namespace {

constexpr std::string_view kWorker =
    "worker /usr/lib/python3.11/multiprocessing/pool.py 125;square app.py 7";

constexpr Duration ms(std::int64_t count) { return duration_ns(count * 1'000'000); }

std::optional<PoolTime> pool_of(const Trace& trace) { return pool_time(trace, StackRoles(trace)); }

TEST(PoolTime, DividesARunByHowManyCompute) {
  Trace trace;
  SampleBuilder builder(trace);
  // 0-100 the main thread, 100-300 both workers, 300-400 one of them, 400-450 nobody.
  builder.thread(1, 1).at("main app.py 20").runs(100).waits("lock", 350);
  builder.thread(2, 2).at(kWorker).waits("file", 100).runs(200).waits("file", 150);
  builder.thread(3, 3).at(kWorker).waits("file", 100);
  for (int turn = 0; turn < 30; ++turn) builder.runs(8, 2);
  const auto pool = pool_of(trace);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->workers, 2U);
  EXPECT_EQ(pool->wall, ms(450));
  EXPECT_EQ(pool->together, ms(200));
  EXPECT_EQ(pool->one_worker, ms(100));
  EXPECT_EQ(pool->one_other, ms(100));
  EXPECT_EQ(pool->serial(), ms(200));
}

TEST(PoolTime, StacksOfOneLookShareWhatWasComputedUntilThen) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 2).at(kWorker).runs(100);
  builder.thread(1, 3).at(kWorker).runs(60);
  StackSample half = trace.stack_samples.back();
  half.on_cpu = half.on_cpu / 2;
  trace.stack_samples.back() = half;
  trace.stack_samples.push_back(half);
  const auto pool = pool_of(trace);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->together, ms(60));
  EXPECT_EQ(pool->one_worker, ms(40));
}

TEST(PoolTime, OneWorkerIsNoPool) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at("main app.py 20").runs(100);
  builder.thread(2, 2).at(kWorker).runs(100);
  builder.thread(3, 3).at(kWorker).runs(5).waits("file", 95);
  EXPECT_FALSE(pool_of(trace));
}

TEST(PoolTime, PoolsOneAfterAnotherHaveTheWorkersOfOne) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1).at("main app.py 20").waits("lock", 200);
  for (const int tid : {2, 3}) builder.thread(1, tid).at(kWorker).runs(100);
  for (const int tid : {4, 5}) {
    builder.thread(1, tid).at(kWorker).runs(100);
    trace.stack_samples.back().time += ms(100);
  }
  const auto pool = pool_of(trace);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->workers, 2U);
  EXPECT_EQ(pool->together, ms(200));
  // One worker at a time is none.
  Trace alone;
  SampleBuilder one(alone);
  one.thread(1, 2).at(kWorker).runs(100);
  one.thread(1, 3).at(kWorker).runs(100);
  alone.stack_samples.back().time += ms(100);
  EXPECT_FALSE(pool_of(alone));
}

TEST(PoolTime, ThreadsOfTheProgramsOwnAreNoPool) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid) builder.thread(1, tid).at("worker app.py 20").runs(100);
  EXPECT_FALSE(pool_of(trace));
  EXPECT_FALSE(pool_of(Trace{}));
}

TEST(PoolTime, EveryPoolOfPythonHasWorkers) {
  for (const std::string worker :
       {"_worker /usr/lib/python3.11/concurrent/futures/thread.py 83",
        "_process_worker /usr/lib/python3.11/concurrent/futures/process.py 240",
        "_process_worker /opt/x/site-packages/joblib/externals/loky/process_executor.py 4"}) {
    Trace trace;
    SampleBuilder builder(trace);
    builder.thread(1, 2).at(worker + ";parse app.py 7").runs(100);
    builder.thread(1, 3).at(worker + ";parse app.py 7").runs(60);
    const auto pool = pool_of(trace);
    ASSERT_TRUE(pool) << worker;
    EXPECT_EQ(pool->together, ms(60));
    EXPECT_EQ(pool->one_worker, ms(40));
  }
}

}  // namespace
}  // namespace fathom
