// Launches as fast as the host can, to measure what recording one costs: prints the host's time of
// a launch.
#include "program.h"

extern "C" __global__ void fathom_many() {}

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 100'000;
  constexpr int kBatch = 500;
  gpu::Document document("many");
  fathom_many<<<1, 32>>>();
  document.kernel("fathom_many", 1, 32, 0);
  GPU_CHECK(cudaDeviceSynchronize());
  std::int64_t spent = 0;
  for (int done = 0; done < launches; done += kBatch) {
    const std::int64_t begin = gpu::host_ns();
    for (int i = 0; i < kBatch; ++i) fathom_many<<<1, 32>>>();
    spent += gpu::host_ns() - begin;
    for (int i = 0; i < kBatch; ++i) document.kernel("fathom_many", 1, 32, 0);
    GPU_CHECK(cudaDeviceSynchronize());
  }
  document.member("launch_ns",
                  std::to_string(static_cast<double>(spent) / (launches / kBatch * kBatch)));
  document.print();
}
