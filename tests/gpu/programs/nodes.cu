// A graph of 500 kernels of nothing, launched so many times without a pause. Before there is a
// context CUPTI, where it records, is told to take at most so many buffers of the device's memory.
#include <dlfcn.h>

#include <fstream>

#include "program.h"

extern "C" __global__ void fathom_small_node() {}

namespace {

constexpr int kPoolLimit = 2;  // CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT

/// Whether CUPTI took it, or why not.
std::string limit_pool(std::size_t buffers) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos || line.find("cupti.so", path) == std::string::npos) continue;
    void* library = dlopen(line.substr(path).c_str(), RTLD_NOW | RTLD_NOLOAD);
    void* found = library == nullptr ? nullptr : dlsym(library, "cuptiActivitySetAttribute");
    if (found == nullptr) continue;
    std::size_t size = sizeof(buffers);
    const auto set = reinterpret_cast<int (*)(int, std::size_t*, void*)>(found);
    const int status = set(kPoolLimit, &size, &buffers);
    return status == 0 ? "set" : "refused by " + std::to_string(status);
  }
  return "no CUPTI";
}

}  // namespace

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 1000;
  const int buffers = count > 2 ? std::atoi(arguments[2]) : 8;
  constexpr int kNodes = 500;
  gpu::Document document("nodes");
  int devices = 0;
  GPU_CHECK(cudaGetDeviceCount(&devices));  // loads what records, makes no context
  document.member("pool_limit", "\"" + limit_pool(buffers) + "\"");
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kNodes; ++i) fathom_small_node<<<1, 32, 0, stream>>>();
  GPU_CHECK(cudaStreamEndCapture(stream, &graph));
  GPU_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < launches; ++i) {
    GPU_CHECK(cudaGraphLaunch(ready, stream));
    for (int n = 0; n < kNodes; ++n) document.kernel("fathom_small_node", 1, 32, 0);
  }
  GPU_CHECK(cudaStreamSynchronize(stream));
  document.member("graph", "{\"launches\": " + std::to_string(launches) + "}");
  document.print();
}
