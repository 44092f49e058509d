// Exceptions work in a program that is linked as the release binary is: libgcc inside, our
// _dl_find_object.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
