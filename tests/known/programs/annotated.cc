// Sixty steps: milliseconds of waiting inside the annotation "receive", then of computing inside
// "work", as the two arguments say.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fathom/fathom.h>

namespace {

void compute(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::chrono::milliseconds waiting(std::atoi(words[1]));
  const std::chrono::milliseconds computing(std::atoi(words[2]));
  for (int step = 0; step < 60; ++step) {
    {
      const fathom::annotate scope("receive");
      std::this_thread::sleep_for(waiting);
    }
    {
      const fathom::annotate scope("work");
      compute(computing);
    }
    fathom::step();
  }
  return 0;
}
