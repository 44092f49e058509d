// A program that ends as its argument says, after kernels that have run: return, _exit, _exit_now,
// abort, fork, fork_before (the child uses CUDA, too), segv, term, kill, exec or reset. Where they
// have not ended: nosync, busy (the queue full for four seconds, and then it is killed). short: three, and it is over.
#include <csignal>
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
  const bool waits = how != "nosync" && how != "busy" && how != "reset";
  const int kernels = how == "short" ? 3 : how == "busy" ? 40'000 : 30;
  const auto work = [&] {
    for (int i = 0; i < kernels; ++i) {
      fathom_before_end<<<1, 32>>>(kNs);
      document.kernel("fathom_before_end", 1, 32, kNs);
    }
    if (waits) GPU_CHECK(cudaDeviceSynchronize());
  };
  // Before the first use of CUDA both may use it.
  const pid_t other = how == "fork_before" ? fork() : -1;
  work();
  if (other == 0) return 0;
  if (other > 0) {
    int status = 0;
    waitpid(other, &status, 0);
    if (status != 0) return 1;
    for (int i = 0; i < kernels; ++i) document.kernel("fathom_before_end", 1, 32, kNs);
  }
  if (how == "fork") {
    // CUDA may not be used in the child: it does nothing and leaves.
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    work();
  }
  document.print();
  // What a program that leaves so has done is in the file after half a second (docs/cuda.md).
  if (how == "_exit" || how == "kill" || how == "exec") usleep(700'000);
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "term") std::raise(SIGTERM);
  if (how == "kill" || how == "busy") std::raise(SIGKILL);
  if (how == "exec") execl(arguments[0], arguments[0], "return", nullptr);
  if (how == "reset") GPU_CHECK(cudaDeviceReset());
  if (how == "_exit" || how == "_exit_now") _exit(0);
  if (how == "abort") std::abort();
}
