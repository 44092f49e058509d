// Calls that make the host wait for a kernel of two milliseconds: by device, stream, event, and a
// blocking copy.
#include "program.h"

extern "C" __global__ void fathom_waited(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

int main() {
  constexpr std::uint64_t kNs = 2'000'000;
  constexpr int kEach = 5;
  gpu::Document document("syncs");
  document.measure_tick();
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int* device = nullptr;
  int host = 0;
  GPU_CHECK(cudaStreamCreate(&stream));
  GPU_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  GPU_CHECK(cudaMalloc(&device, sizeof(int)));
  fathom_waited<<<1, 32, 0, stream>>>(kNs);  // the first one loads the code
  document.kernel("fathom_waited", 1, 32, kNs);
  GPU_CHECK(cudaStreamSynchronize(stream));
  document.call("cudaStreamSynchronize");
  for (int i = 0; i < 4 * kEach; ++i) {
    fathom_waited<<<1, 32, 0, stream>>>(kNs);
    document.kernel("fathom_waited", 1, 32, kNs);
    const std::int64_t begin = gpu::host_ns();
    if (i % 4 == 0) GPU_CHECK(cudaDeviceSynchronize());
    if (i % 4 == 1) GPU_CHECK(cudaStreamSynchronize(stream));
    if (i % 4 == 2) {
      GPU_CHECK(cudaEventRecord(event, stream));
      GPU_CHECK(cudaEventSynchronize(event));
    }
    if (i % 4 == 3) {
      // The null stream waits for `stream`, and the copy to pageable memory for itself.
      GPU_CHECK(cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDeviceToHost));
      document.copy("DtoH", "device", "pageable", sizeof(int));
    }
    const char* names[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                           "cudaMemcpy"};
    document.call(names[i % 4], gpu::host_ns() - begin);
  }
  document.print();
}
