// Launches as fast as the host can, and what the process took for it: the host's time of a launch,
// processor time of all other threads, memory of the process and of the device.
#include <ctime>
#include <fstream>

#include "program.h"

extern "C" __global__ void fathom_cost() {}

namespace {

std::int64_t cpu_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name, 0) == 0) return std::atoll(line.c_str() + name.size()) * 1024;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 300'000;
  constexpr int kBatch = 500;
  gpu::Document document("cost");
  std::size_t least_free = 0;
  std::size_t total = 0;
  GPU_CHECK(cudaFree(nullptr));
  GPU_CHECK(cudaMemGetInfo(&least_free, &total));
  fathom_cost<<<1, 32>>>();
  document.kernel("fathom_cost", 1, 32, 0);
  GPU_CHECK(cudaDeviceSynchronize());
  const std::int64_t all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t own = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  std::int64_t spent = 0;
  for (int done = 0; done < launches; done += kBatch) {
    const std::int64_t begin = gpu::host_ns();
    for (int i = 0; i < kBatch; ++i) fathom_cost<<<1, 32>>>();
    spent += gpu::host_ns() - begin;
    for (int i = 0; i < kBatch; ++i) document.kernel("fathom_cost", 1, 32, 0);
    GPU_CHECK(cudaDeviceSynchronize());
    std::size_t free = 0;
    GPU_CHECK(cudaMemGetInfo(&free, &total));
    if (free < least_free) least_free = free;
  }
  const std::int64_t others =
      cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all - (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - own);
  const double made = static_cast<double>(launches / kBatch) * kBatch;
  document.member("launch_ns", std::to_string(static_cast<double>(spent) / made));
  document.member("other_threads_ns", std::to_string(static_cast<double>(others) / made));
  document.member("resident_bytes", std::to_string(status_bytes("VmHWM:")));
  document.member("device_bytes", std::to_string(total - least_free));
  document.print();
}
