// Launches without a pause while it sends itself a signal so many times: recording starts and stops
// under launches. With `capture` a second thread captures a graph for all threads meanwhile.
#include <atomic>
#include <csignal>
#include <thread>

#include <unistd.h>

#include "program.h"

extern "C" __global__ void fathom_window() {}
extern "C" __global__ void fathom_captured() {}

namespace {

void capture(std::atomic<bool>& over) {
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  while (!over) {
    cudaGraph_t graph = nullptr;
    GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fathom_captured<<<1, 32, 0, stream>>>();
    usleep(20'000);
    GPU_CHECK(cudaStreamEndCapture(stream, &graph));
    GPU_CHECK(cudaGraphDestroy(graph));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int signals = count > 1 ? std::atoi(arguments[1]) : 100;
  const bool captures = count > 2 && std::string(arguments[2]) == "capture";
  // Where nobody listens to it, it does not end the program. Who records begins later than this.
  std::signal(SIGUSR2, SIG_IGN);
  gpu::Document document("windows");
  cudaStream_t own = nullptr;
  GPU_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  // The first launch loads the code, which is not allowed while a graph is captured.
  fathom_window<<<1, 32, 0, own>>>();
  fathom_captured<<<1, 32, 0, own>>>();
  GPU_CHECK(cudaStreamSynchronize(own));
  std::atomic<bool> over{false};
  std::thread other;
  if (captures) other = std::thread([&over] { capture(over); });
  for (int i = 0; i < (captures ? 20 : signals); ++i) {
    for (int j = 0; j < 2000; ++j) fathom_window<<<1, 32, 0, own>>>();
    if (!captures) std::raise(SIGUSR2);
    usleep(20'000);
  }
  over = true;
  if (other.joinable()) other.join();
  // While a capture for all threads goes on, other calls are not allowed.
  GPU_CHECK(cudaStreamSynchronize(own));
  for (int i = 0; i < (captures ? 20 : signals) * 2000 + 1; ++i)
    document.kernel("fathom_window", 1, 32, 0);
  document.print();
}
