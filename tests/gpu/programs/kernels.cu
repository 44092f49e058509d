// Kernels of known length and shape: 200 of 50 µs, 20 of 1 ms timed by events, 500 that do nothing.
#include "program.h"

extern "C" __global__ void fathom_spin(std::uint64_t ns) {
  extern __shared__ char unused[];
  (void)unused;
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_timed(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_nothing() {}

int main() {
  gpu::Document document("kernels");
  document.measure_tick();
  constexpr std::uint64_t kShort = 50'000;
  constexpr std::uint64_t kLong = 1'000'000;
  constexpr int kShared = 4096;
  for (int i = 0; i < 200; ++i) {
    fathom_spin<<<dim3(2, 3), dim3(32, 2), kShared>>>(kShort);
    document.kernel("fathom_spin", dim3(2, 3), dim3(32, 2), kShort, 0, kShared);
  }
  fathom_timed<<<4, 64>>>(kLong);  // the first one loads the code
  gpu::Stopwatch watch;
  document.kernel("fathom_timed", 4, 64, kLong);
  for (int i = 0; i < 20; ++i) {
    watch.start();
    fathom_timed<<<4, 64>>>(kLong);
    watch.stop();
    document.kernel("fathom_timed", 4, 64, kLong, watch.ns());
    document.call("cudaEventSynchronize");
  }
  for (int i = 0; i < 500; ++i) {
    fathom_nothing<<<1, 32>>>();
    document.kernel("fathom_nothing", 1, 32, 0);
  }
  GPU_CHECK(cudaGetLastError());
  GPU_CHECK(cudaDeviceSynchronize());
  document.call("cudaDeviceSynchronize");
  document.print();
}
