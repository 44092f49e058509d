// A program that ends as its argument says, after kernels that have run: return, _exit, _exit_now,
// abort or fork.
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

extern "C" __global__ void fathom_before_end(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

int main(int count, char** arguments) {
  constexpr std::uint64_t kNs = 100'000;
  const std::string how = count > 1 ? arguments[1] : "return";
  gpu::Document document("ends_" + how);
  const auto work = [&] {
    for (int i = 0; i < 30; ++i) {
      fathom_before_end<<<1, 32>>>(kNs);
      document.kernel("fathom_before_end", 1, 32, kNs);
    }
    GPU_CHECK(cudaDeviceSynchronize());
  };
  work();
  if (how == "fork") {
    // CUDA may not be used in the child: it does nothing and leaves.
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    work();
  }
  document.print();
  // What a program that leaves so has done is in the file after half a second (docs/cuda.md).
  if (how == "_exit") usleep(700'000);
  if (how == "_exit" || how == "_exit_now") _exit(0);
  if (how == "abort") std::abort();
}
