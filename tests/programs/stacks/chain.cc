// A program of known calls: a thread that computes, five calls deep, and one that waits for its
// standard input. Prints "computes TID", "waits TID" and an empty line.
#include <cstdio>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long sink;
static volatile int more = 1;

// Calls stay calls, and functions keep their names.
struct Worker {
  [[gnu::noipa]] unsigned long spin();
  [[gnu::noipa]] void compute(int depth);
};

unsigned long Worker::spin() {
  unsigned long number = 1;
  for (int i = 0; i < 1'000'000; ++i) {
    number = number * 6364136223846793005U + 1;
    sink = number;
  }
  return number;
}

void Worker::compute(int depth) {
  if (depth > 0)
    compute(depth - 1);
  else
    while (more != 0) sink = sink + spin();
  sink = 1;  // So that the call before is none that this one's frame makes room for.
}

[[gnu::noipa]] void inner_wait() {
  char c = 0;
  sink = sink + static_cast<unsigned long>(read(0, &c, 1));
}

[[gnu::noipa]] void outer_wait() {
  inner_wait();
  sink = sink + 2;
}

int main() {
  std::thread([] {
    std::printf("computes %ld\nwaits %d\n\n", syscall(SYS_gettid), getpid());
    std::fflush(stdout);
    Worker().compute(3);
  }).detach();
  outer_wait();
  return 0;
}
