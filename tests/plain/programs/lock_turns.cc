// Eight threads take turns at a mutex and compute while they hold it: whom it wakes wants a
// processor only for its turn, however many others are on the machine.
#include <mutex>
#include <thread>
#include <vector>

#include <time.h>

namespace {

std::mutex mutex;
volatile long sink = 0;

double processor_time() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void spend(double seconds) {
  const double begin = processor_time();
  while (processor_time() - begin < seconds) {
    for (int i = 0; i < 200; ++i) sink = sink + i;
  }
}

void update() {
  const std::lock_guard<std::mutex> lock(mutex);
  spend(300e-6);
}

void take_turns() {
  for (int turn = 0; turn < 800; ++turn) {
    update();
    spend(30e-6);
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(take_turns);
  for (std::thread& thread : threads) thread.join();
}
