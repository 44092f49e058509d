// What glibc 2.28 lacks works in a program that is linked as the release binary is: libgcc and
// libstdc++ inside, what they ask for supplied by us. tests/packages runs it on an older glibc,
// too.
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct CountsDestruction {
  int* count;
  ~CountsDestruction() { ++*count; }
};

// Not inlined, so that each level is a frame the unwinder must find.
[[gnu::noinline]] int descend(int depth, int* destroyed) {
  const CountsDestruction guard{destroyed};
  if (depth == 0) throw std::runtime_error("the bottom");
  return descend(depth - 1, destroyed) + 1;
}

TEST(GlibcCompat, AnExceptionUnwindsThroughManyFrames) {
  int destroyed = 0;
  EXPECT_THROW(descend(100, &destroyed), std::runtime_error);
  EXPECT_EQ(destroyed, 101);
}

TEST(GlibcCompat, AnExceptionThrownInsideTheStandardLibraryIsCaught) {
  const std::vector<int> empty;
  EXPECT_THROW((void)empty.at(3), std::out_of_range);
  EXPECT_THROW((void)std::stoi("no number"), std::invalid_argument);
}

TEST(GlibcCompat, AnExceptionIsRethrownInAnotherThread) {
  std::exception_ptr caught;
  std::thread([&] {
    try {
      int destroyed = 0;
      descend(3, &destroyed);
    } catch (...) {
      caught = std::current_exception();
    }
  }).join();
  EXPECT_THROW(std::rethrow_exception(caught), std::runtime_error);
}

TEST(GlibcCompat, ThreadsThrowAtTheSameTime) {
  std::vector<int> destroyed(4, 0);
  std::vector<std::thread> threads;
  for (int& count : destroyed) {
    threads.emplace_back([&count] {
      for (int i = 0; i < 200; ++i) {
        try {
          descend(4, &count);
        } catch (const std::runtime_error&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : destroyed) EXPECT_EQ(count, 1000);
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int constructed = 0;
struct CountsConstruction {
  CountsConstruction() { ++constructed; }
};
const CountsConstruction before_main;

[[gnu::constructor]] void is_given_the_arguments(int count, char** words) {
  if (count > 0 && words[0] != nullptr && words[count] == nullptr) ++constructed;
}

TEST(GlibcCompat, ConstructorsRunOnceAndGetTheArguments) { EXPECT_EQ(constructed, 2); }

TEST(GlibcCompat, AWaitByTheSteadyClockEndsWhenItsTimeHasCome) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = steady_clock::now();
  EXPECT_FALSE(condition.wait_for(lock, milliseconds(20), [] { return false; }));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(20));
}

TEST(GlibcCompat, AWaitByTheSteadyClockEndsWhenItIsSignalled) {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  std::thread thread([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    condition.notify_one();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::hours(1), [&] { return ready; }));
  lock.unlock();
  thread.join();
}

TEST(GlibcCompat, AWaitUntilTheEndOfTimeIsNotOverAtOnce) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const timespec never{INT64_MAX, 0};
  const timespec wrong{0, -1};
  pthread_mutex_lock(&mutex);
  std::thread thread([&] {
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  });
  EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &never), 0);
  EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &wrong), EINVAL);
  pthread_mutex_unlock(&mutex);
  thread.join();
}

TEST(GlibcCompat, ASemaphoreIsTakenOrWaitedForUntilItsTimeHasCome) {
  std::counting_semaphore<4> semaphore(1);
  EXPECT_TRUE(semaphore.try_acquire_for(milliseconds(20)));
  EXPECT_FALSE(semaphore.try_acquire_for(milliseconds(20)));

  sem_t plain;
  sem_init(&plain, 0, 1);
  timespec past{0, 0};
  EXPECT_EQ(sem_clockwait(&plain, CLOCK_MONOTONIC, &past), 0);
  const auto begin = steady_clock::now();
  timespec soon{};
  clock_gettime(CLOCK_MONOTONIC, &soon);
  ++soon.tv_sec;
  EXPECT_EQ(sem_clockwait(&plain, CLOCK_MONOTONIC, &soon), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(900));
  past.tv_nsec = -1;
  EXPECT_EQ(sem_clockwait(&plain, CLOCK_MONOTONIC, &past), -1);
  EXPECT_EQ(errno, EINVAL);
  sem_destroy(&plain);
}

TEST(GlibcCompat, WhatIsKnownOfAFileIsTheSameByEachName) {
  const std::string path = testing::TempDir() + "glibc_compat_file";
  const std::string link = path + "_link";
  std::ofstream(path) << "twelve bytes";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(path, link);
  EXPECT_EQ(std::filesystem::file_size(path), 12U);
  struct stat by_path {};
  struct stat by_link {};
  struct stat of_link {};
  struct stat at {};
  struct stat by_number {};
  EXPECT_EQ(stat(path.c_str(), &by_path), 0);
  EXPECT_EQ(stat(link.c_str(), &by_link), 0);
  EXPECT_EQ(lstat(link.c_str(), &of_link), 0);
  EXPECT_EQ(fstatat(AT_FDCWD, link.c_str(), &at, AT_SYMLINK_NOFOLLOW), 0);
  const int file = open(path.c_str(), O_RDONLY);
  EXPECT_EQ(fstat(file, &by_number), 0);
  close(file);
  EXPECT_EQ(by_path.st_size, 12);
  EXPECT_EQ(by_path.st_ino, by_link.st_ino);
  EXPECT_EQ(by_path.st_ino, by_number.st_ino);
  EXPECT_TRUE(S_ISLNK(of_link.st_mode));
  EXPECT_EQ(of_link.st_ino, at.st_ino);
  EXPECT_EQ(stat((path + "_not").c_str(), &by_path), -1);
  EXPECT_EQ(errno, ENOENT);
  std::filesystem::remove(path);
  std::filesystem::remove(link);
}

TEST(GlibcCompat, RandomNumbersDiffer) {
  std::random_device device;
  std::set<unsigned> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(device());
  EXPECT_GT(numbers.size(), 95U);
}

TEST(GlibcCompat, AThreadHasANumberOfItsOwn) {
  EXPECT_EQ(gettid(), getpid());
  pid_t other = 0;
  std::thread([&] { other = gettid(); }).join();
  EXPECT_NE(other, getpid());
}

}  // namespace
