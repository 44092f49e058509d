// A graph of ten kernels, a copy and a fill, launched fifty times.
#include "program.h"

extern "C" __global__ void fathom_node(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

int main() {
  constexpr int kNodes = 10;
  constexpr int kLaunches = 50;
  constexpr std::uint64_t kNs = 20'000;
  constexpr std::size_t kBytes = 1 << 20;
  gpu::Document document("graphs");
  document.measure_tick();
  char* from = nullptr;
  char* to = nullptr;
  GPU_CHECK(cudaMalloc(&from, kBytes));
  GPU_CHECK(cudaMalloc(&to, kBytes));
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  GPU_CHECK(cudaMemsetAsync(from, 3, kBytes, stream));
  for (int i = 0; i < kNodes; ++i) fathom_node<<<2, 32, 0, stream>>>(kNs);
  GPU_CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream));
  GPU_CHECK(cudaStreamEndCapture(stream, &graph));
  GPU_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  document.call("cudaGraphInstantiate");
  for (int i = 0; i < kLaunches; ++i) {
    GPU_CHECK(cudaGraphLaunch(ready, stream));
    document.call("cudaGraphLaunch");
    for (int n = 0; n < kNodes; ++n) document.kernel("fathom_node", 2, 32, kNs);
    document.copy("DtoD", "device", "device", kBytes);
    document.copy("memset", "", "device", kBytes);
  }
  GPU_CHECK(cudaStreamSynchronize(stream));
  document.call("cudaStreamSynchronize");
  document.member("graph", "{\"launches\": " + std::to_string(kLaunches) +
                               ", \"nodes\": " + std::to_string(kNodes + 2) + "}");
  document.print();
}
