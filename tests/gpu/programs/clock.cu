// Four times a second, for so many seconds: a kernel that waits for the host's word, reads
// %globaltimer, spins 50 µs and reads it again. The host reads its own clock before its word and
// after the answer: so the device's time is known on the host's clock, whatever CUPTI says.
#include <string>

#include <unistd.h>

#include "program.h"

extern "C" __global__ void fathom_clock(volatile std::uint32_t* said, volatile std::uint32_t* answer,
                                        volatile std::uint64_t* times, std::uint32_t number) {
  while (*said != number) {
  }
  const std::uint64_t begin = gpu::device_clock();
  *answer = number;
  __threadfence_system();
  gpu::spin_until(begin, 50'000);
  times[0] = begin;
  times[1] = gpu::device_clock();
}

int main(int count, char** arguments) {
  const int rounds = 4 * (count > 1 ? std::atoi(arguments[1]) : 5);
  gpu::Document document("clock");
  document.measure_tick();
  volatile std::uint32_t* flags = nullptr;
  volatile std::uint64_t* times = nullptr;
  GPU_CHECK(cudaHostAlloc(&flags, 256, cudaHostAllocMapped));
  GPU_CHECK(cudaHostAlloc(&times, 2 * sizeof(std::uint64_t), cudaHostAllocMapped));
  flags[0] = flags[32] = 0;
  std::string text;
  for (int i = 1; i <= rounds; ++i) {
    const std::int64_t launch = gpu::host_ns();
    fathom_clock<<<1, 1>>>(flags, flags + 32, times, i);
    const std::int64_t launched = gpu::host_ns();
    document.kernel("fathom_clock", 1, 1, 50'000);
    // By then it waits.
    usleep(2'000);
    const std::int64_t said = gpu::host_ns();
    flags[0] = i;
    while (flags[32] != static_cast<std::uint32_t>(i)) {
    }
    const std::int64_t answered = gpu::host_ns();
    GPU_CHECK(cudaDeviceSynchronize());
    for (const std::int64_t each : {launch, launched, said, answered,
                                    static_cast<std::int64_t>(times[0]),
                                    static_cast<std::int64_t>(times[1])}) {
      text += (text.empty() ? "[" : ", ") + std::to_string(each);
    }
    usleep(248'000);
  }
  document.member("readings", text + "]");
  document.print();
}
