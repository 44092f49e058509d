// Allocations: cudaMalloc and its pool, with a fill each so that something runs.
#include "program.h"

int main() {
  constexpr std::size_t kBytes = 4 << 20;
  gpu::Document document("memory");
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 20; ++i) {
    char* memory = nullptr;
    GPU_CHECK(cudaMalloc(&memory, kBytes + 256 * i));
    GPU_CHECK(cudaMemsetAsync(memory, i, kBytes, stream));
    GPU_CHECK(cudaStreamSynchronize(stream));
    GPU_CHECK(cudaFree(memory));
    document.call("cudaMalloc");
    document.call("cudaMemsetAsync");
    document.call("cudaStreamSynchronize");
    document.call("cudaFree");
    document.copy("memset", "", "device", kBytes);
  }
  int pools = 0;
  GPU_CHECK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
  for (int i = 0; pools != 0 && i < 20; ++i) {
    void* memory = nullptr;
    GPU_CHECK(cudaMallocAsync(&memory, kBytes, stream));
    GPU_CHECK(cudaMemsetAsync(memory, i, kBytes, stream));
    GPU_CHECK(cudaFreeAsync(memory, stream));
    document.call("cudaMallocAsync");
    document.call("cudaMemsetAsync");
    document.call("cudaFreeAsync");
    document.copy("memset", "", "device", kBytes);
  }
  GPU_CHECK(cudaStreamSynchronize(stream));
  document.call("cudaStreamSynchronize");
  document.print();
}
