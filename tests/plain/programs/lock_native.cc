// Four threads without Python take turns: each waits for something while it holds the mutex.
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

int main() {
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 25; ++turn) {
        const std::lock_guard lock(mutex);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
