#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/available_threads.h"
#include "base/parallel.h"

namespace fathom {
namespace {

/// Which threads came by, and how many at once at most.
class Visitors {
 public:
  void enter() {
    const std::scoped_lock lock(mutex_);
    ids_.insert(std::this_thread::get_id());
    most_ = std::max(most_, ++now_);
  }
  void leave() {
    const std::scoped_lock lock(mutex_);
    --now_;
  }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] std::size_t threads() const { return ids_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> ids_;
  int now_ = 0;
  int most_ = 0;
};

/// Lets every thread through once `expected` have come.
class Meeting {
 public:
  explicit Meeting(int expected) : missing_(expected) {}
  void join() {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

TEST(Parallel, DoesEachPieceExactlyOnce) {
  for (const std::size_t pieces : {0U, 1U, 2U, 3U, 1000U}) {
    for (const unsigned threads : {0U, 1U, 2U, 7U}) {
      std::vector<std::atomic<int>> done(pieces);
      for_each_in_parallel(pieces, threads, [&](std::size_t i) { ++done[i]; });
      for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Parallel, UsesAsManyThreadsAsThereAreToMeet) {
  const ThreadPool pool(4);
  Meeting meeting(4);
  Visitors visitors;
  for_each_in_parallel(4, 0, [&](std::size_t) {
    visitors.enter();
    meeting.join();
    visitors.leave();
  });
  EXPECT_EQ(visitors.threads(), 4U);
}

TEST(Parallel, UsesNoMoreThreadsThanThePoolHasHoweverDeeplyNested) {
  const ThreadPool pool(3);
  Visitors visitors;
  std::atomic<int> leaves = 0;
  for_each_in_parallel(8, 0, [&](std::size_t) {
    for_each_in_parallel(8, 5, [&](std::size_t) {
      for_each_in_parallel(8, 0, [&](std::size_t) {
        visitors.enter();
        ++leaves;
        std::this_thread::yield();
        visitors.leave();
      });
    });
  });
  EXPECT_EQ(leaves, 512);
  EXPECT_LE(visitors.most(), 3);
  EXPECT_LE(visitors.threads(), 3U);
}

TEST(Parallel, WhoWaitsForAPieceHelpsWithWhatThePieceHandsOut) {
  const ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  Meeting outer(2);
  Meeting inner(2);
  Visitors visitors;
  for_each_in_parallel(2, 0, [&](std::size_t) {
    outer.join();
    if (std::this_thread::get_id() == caller) return;
    for_each_in_parallel(2, 0, [&](std::size_t) {
      visitors.enter();
      inner.join();
      visitors.leave();
    });
  });
  EXPECT_EQ(visitors.threads(), 2U);
}

TEST(Parallel, OneThreadIsTheCallersAndTakesPiecesInOrder) {
  const ThreadPool pool(1);
  std::vector<std::size_t> order;
  for_each_in_parallel(5, 0, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Parallel, ThrowsWhatAHelperThrew) {
  const ThreadPool pool(4);
  const std::thread::id caller = std::this_thread::get_id();
  Meeting meeting(4);
  const auto work = [&](std::size_t) {
    meeting.join();
    if (std::this_thread::get_id() != caller) throw std::bad_alloc();
  };
  EXPECT_THROW(for_each_in_parallel(4, 0, work), std::bad_alloc);
}

TEST(Parallel, ThrowsOnlyOnceWhatStillRunsHasReturned) {
  const ThreadPool pool(2);
  std::atomic<bool> first_threw = false;
  std::atomic<int> returned = 0;
  Meeting meeting(2);
  const auto work = [&](std::size_t i) {
    meeting.join();
    if (i == 0) {
      first_threw = true;
      throw std::runtime_error("first");
    }
    while (!first_threw) std::this_thread::yield();
    // The other thread may only now be on its way to say so; it does not wait for this one.
    for (int turn = 0; turn < 1000; ++turn) std::this_thread::yield();
    ++returned;
  };
  try {
    for_each_in_parallel(2, 0, work);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_EQ(returned, 1);
}

TEST(Parallel, BeginsNoPieceAfterAnException) {
  const ThreadPool pool(2);
  std::atomic<int> begun = 0;
  const auto work = [&](std::size_t) {
    ++begun;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(for_each_in_parallel(1000, 0, work), std::runtime_error);
  EXPECT_LE(begun, 2);
}

TEST(Parallel, AnExceptionOfANestedCallReachesTheOutermost) {
  const ThreadPool pool(4);
  const auto inner = [](std::size_t i) {
    if (i == 5) throw std::bad_alloc();
  };
  const auto outer = [&](std::size_t) { for_each_in_parallel(8, 0, inner); };
  EXPECT_THROW(for_each_in_parallel(8, 0, outer), std::bad_alloc);
}

TEST(Parallel, APoolIsAsGoodAsNewAfterAnException) {
  const ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(for_each_in_parallel(16, 0, [](std::size_t) { throw std::bad_alloc(); }),
                 std::bad_alloc);
    std::atomic<int> done = 0;
    for_each_in_parallel(16, 0, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 16);
  }
}

TEST(Parallel, APoolInsideAnotherChangesNothing) {
  const ThreadPool outer(2);
  const ThreadPool inner(9);
  EXPECT_EQ(parallel_threads(), 2U);
}

TEST(Parallel, APoolEndsWithItsScope) {
  { const ThreadPool pool(available_threads() + 3); }
  EXPECT_EQ(parallel_threads(), available_threads());
}

TEST(Parallel, BothAreDoneAtTheSameTime) {
  const ThreadPool pool(2);
  Meeting meeting(2);
  std::atomic<int> done = 0;
  both_in_parallel(
      [&] {
        meeting.join();
        ++done;
      },
      [&] {
        meeting.join();
        ++done;
      });
  EXPECT_EQ(done, 2);
}

TEST(Parallel, ThreadsOfTheProgramHavePoolsOfTheirOwn) {
  const ThreadPool pool(3);
  unsigned elsewhere = 0;
  std::thread([&elsewhere] { elsewhere = parallel_threads(); }).join();
  EXPECT_EQ(elsewhere, available_threads());
}

TEST(ThreadPool, SaysHowManyThreadsTheOuterOneMayHave) {
  {
    const ThreadPool outer(3);
    const ThreadPool inner(2);
    EXPECT_EQ(last_pool_threads(), 3U);
  }
  EXPECT_EQ(last_pool_threads(), 3U);
  const ThreadPool alone(1);
  EXPECT_EQ(last_pool_threads(), 1U);
}

}  // namespace
}  // namespace fathom
