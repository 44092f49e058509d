// Steps of 30 ms, of which 5 wait inside the annotation "receive" and 25 compute inside "work".
#include <chrono>
#include <thread>

#include <fathom/fathom.h>

namespace {

void compute(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

int main() {
  for (int step = 0; step < 60; ++step) {
    {
      const fathom::annotate scope("receive");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    {
      const fathom::annotate scope("work");
      compute(std::chrono::milliseconds(25));
    }
    fathom::step();
  }
  return 0;
}
