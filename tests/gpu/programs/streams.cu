// Four streams of kernels that run beside each other, joined by events.
#include "program.h"

extern "C" __global__ void fathom_beside(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_join(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

int main() {
  constexpr int kStreams = 4;
  constexpr int kEach = 8;
  constexpr std::uint64_t kNs = 500'000;
  gpu::Document document("streams");
  document.measure_tick();
  cudaStream_t streams[kStreams];
  cudaEvent_t done[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    GPU_CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    GPU_CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  gpu::Stopwatch watch(streams[0]);
  watch.start();
  for (int i = 0; i < kEach; ++i) {
    for (cudaStream_t stream : streams) {
      fathom_beside<<<1, 32, 0, stream>>>(kNs);
      document.kernel("fathom_beside", 1, 32, kNs);
    }
  }
  for (int s = 1; s < kStreams; ++s) {
    GPU_CHECK(cudaEventRecord(done[s], streams[s]));
    GPU_CHECK(cudaStreamWaitEvent(streams[0], done[s], 0));
    document.call("cudaStreamWaitEvent");
  }
  fathom_join<<<1, 32, 0, streams[0]>>>(kNs);
  document.kernel("fathom_join", 1, 32, kNs);
  watch.stop();
  const double together = watch.ns();
  document.call("cudaEventSynchronize");
  GPU_CHECK(cudaDeviceSynchronize());
  document.call("cudaDeviceSynchronize");
  document.member("overlap",
                  "{\"kernel\": \"fathom_beside\", \"streams\": " + std::to_string(kStreams) +
                      ", \"together_ns\": " + std::to_string(static_cast<std::int64_t>(together)) +
                      "}");
  document.print();
}
