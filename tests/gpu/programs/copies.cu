// Copies of known bytes, from pageable and pinned memory, in all directions, and fills.
#include <cstring>

#include "program.h"

namespace {

constexpr std::size_t kBytes = 8 << 20;

void copy(gpu::Document& document, void* to, const void* from, std::size_t bytes,
          cudaMemcpyKind kind, const char* name, const char* source, const char* destination,
          bool async) {
  if (async) {
    GPU_CHECK(cudaMemcpyAsync(to, from, bytes, kind, nullptr));
    document.call("cudaMemcpyAsync");
  } else {
    GPU_CHECK(cudaMemcpy(to, from, bytes, kind));
    document.call("cudaMemcpy");
  }
  document.copy(name, source, destination, bytes);
}

}  // namespace

int main() {
  gpu::Document document("copies");
  std::vector<char> pageable(kBytes, 1);
  char* pinned = nullptr;
  char* device = nullptr;
  char* other = nullptr;
  GPU_CHECK(cudaMallocHost(&pinned, kBytes));
  GPU_CHECK(cudaMalloc(&device, kBytes));
  GPU_CHECK(cudaMalloc(&other, kBytes));
  document.call("cudaMalloc");
  document.call("cudaMalloc");
  std::memset(pinned, 2, kBytes);
  // Sizes that differ, so that a sum of bytes cannot be right by chance.
  for (std::size_t i = 0; i < 7; ++i) {
    const std::size_t bytes = kBytes - 4096 * i - 4 * i;
    copy(document, device, pageable.data(), bytes, cudaMemcpyHostToDevice, "HtoD", "pageable",
         "device", false);
    copy(document, device, pinned, bytes - 128, cudaMemcpyHostToDevice, "HtoD", "pinned", "device",
         true);
    copy(document, pageable.data(), device, bytes - 256, cudaMemcpyDeviceToHost, "DtoH", "device",
         "pageable", false);
    copy(document, pinned, device, bytes - 512, cudaMemcpyDeviceToHost, "DtoH", "device", "pinned",
         true);
    copy(document, other, device, bytes - 1024, cudaMemcpyDeviceToDevice, "DtoD", "device",
         "device", true);
  }
  for (int i = 0; i < 5; ++i) {
    GPU_CHECK(cudaMemsetAsync(device, i, 1 << 20, nullptr));
    document.call("cudaMemsetAsync");
    document.copy("memset", "", "device", 1 << 20);
    GPU_CHECK(cudaMemset(other, i, 3 << 20));
    document.call("cudaMemset");
    document.copy("memset", "", "device", 3 << 20);
  }
  GPU_CHECK(cudaDeviceSynchronize());
  document.call("cudaDeviceSynchronize");
  GPU_CHECK(cudaFree(device));
  GPU_CHECK(cudaFree(other));
  document.call("cudaFree");
  document.call("cudaFree");
  document.print();
  GPU_CHECK(cudaFreeHost(pinned));
}
