// So many threads, each with its own stream, launch so many kernels each.
#include <atomic>
#include <thread>
#include <vector>

#include "program.h"

extern "C" __global__ void fathom_of_thread() {}

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 200;
  const int launches = count > 2 ? std::atoi(arguments[2]) : 100;
  gpu::Document document("threads");
  GPU_CHECK(cudaFree(nullptr));
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([launches] {
      for (int j = 0; j < launches; ++j) fathom_of_thread<<<1, 32, 0, cudaStreamPerThread>>>();
      GPU_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (std::thread& each : all) each.join();
  for (int i = 0; i < threads * launches; ++i) document.kernel("fathom_of_thread", 1, 32, 0);
  document.print();
}
