// Launches with attributes: cooperative, in clusters, and programmatic dependent.
#include <cooperative_groups.h>

#include "program.h"

extern "C" __global__ void fathom_cooperative(std::uint64_t ns) {
  cooperative_groups::this_grid().sync();
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_cluster(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_first(std::uint64_t ns) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_dependent(std::uint64_t ns) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  gpu::spin_until(gpu::device_clock(), ns);
}

namespace {

constexpr std::uint64_t kNs = 100'000;

void cooperative(gpu::Document& document) {
  std::uint64_t ns = kNs;
  void* arguments[] = {&ns};
  for (int i = 0; i < 10; ++i) {
    GPU_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(fathom_cooperative), 4, 64,
                                          arguments, 0, nullptr));
    document.kernel("fathom_cooperative", 4, 64, kNs);
    document.call("cudaLaunchCooperativeKernel");
  }
}

void launch(void (*kernel)(std::uint64_t), int blocks, cudaLaunchAttribute attribute,
            cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  GPU_CHECK(cudaLaunchKernelEx(&config, kernel, kNs));
}

void clusters(gpu::Document& document) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  for (int i = 0; i < 10; ++i) {
    launch(fathom_cluster, 8, attribute, nullptr);
    document.kernel("fathom_cluster", 8, 64, kNs);
  }
}

/// The second kernel of a pair is launched while the first still runs, and waits for it inside.
void dependent(gpu::Document& document) {
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreate(&stream));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  for (int i = 0; i < 10; ++i) {
    fathom_first<<<4, 64, 0, stream>>>(kNs);
    document.kernel("fathom_first", 4, 64, kNs);
    launch(fathom_dependent, 4, attribute, stream);
    document.kernel("fathom_dependent", 4, 64, kNs);
  }
}

}  // namespace

int main() {
  gpu::Document document("launches");
  document.measure_tick();
  cudaDeviceProp device = {};
  GPU_CHECK(cudaGetDeviceProperties(&device, 0));
  if (device.cooperativeLaunch != 0) cooperative(document);
  if (device.major >= 9) {
    clusters(document);
    dependent(document);
  }
  GPU_CHECK(cudaDeviceSynchronize());
  document.call("cudaDeviceSynchronize");
  document.member("left_out", device.major >= 9 ? "[]" : "[\"clusters\", \"dependent launch\"]");
  document.print();
}
