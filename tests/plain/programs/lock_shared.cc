// Four threads without Python write in turns: each waits for something while it holds the lock.
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {
std::shared_mutex mutex;

[[gnu::noinline]] void update() {
  const std::unique_lock lock(mutex);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}
}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int turn = 0; turn < 25; ++turn) update();
    });
  }
  for (std::thread& thread : threads) thread.join();
}
