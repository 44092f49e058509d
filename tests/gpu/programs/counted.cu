// One and a half seconds of copies within the device, or of matrix multiplications on Tensor Cores:
// what hardware counters say of them is compared with another tool's. `counted copy 1`: once.
#include <cuda_fp16.h>
#include <mma.h>

#include "program.h"

extern "C" __global__ void fathom_copy(const float4* from, float4* to, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    to[i] = from[i];
  }
}

/// Each warp a tile of 16 × 16; eight warps in a block.
extern "C" __global__ void fathom_gemm(const half* a, const half* b, float* c, int size) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 16;
  const int column = (blockIdx.x * 8 + threadIdx.x / 32) * 16;
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0F);
  for (int k = 0; k < size; k += 16) {
    load_matrix_sync(left, a + static_cast<std::size_t>(row) * size + k, size);
    load_matrix_sync(right, b + static_cast<std::size_t>(k) * size + column, size);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + static_cast<std::size_t>(row) * size + column, sum, size, mem_row_major);
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "copy";
  const int times = count > 2 ? std::atoi(arguments[2]) : 0;
  constexpr std::size_t kBytes = 512U << 20U;
  constexpr int kSize = 2048;
  gpu::Document document("counted");
  char* memory = nullptr;
  GPU_CHECK(cudaMalloc(&memory, 2 * kBytes));
  GPU_CHECK(cudaMemset(memory, 0, 2 * kBytes));
  auto* a = reinterpret_cast<half*>(memory);
  const auto once = [&] {
    if (what == "copy") {
      fathom_copy<<<4096, 256>>>(reinterpret_cast<float4*>(memory), reinterpret_cast<float4*>(memory + kBytes),
                                 kBytes / sizeof(float4));
      document.kernel("fathom_copy", 4096, 256, 0);
    } else {
      fathom_gemm<<<dim3(kSize / 128, kSize / 16), 256>>>(a, a + kSize * kSize,
                                                          reinterpret_cast<float*>(memory + kBytes), kSize);
      document.kernel("fathom_gemm", dim3(kSize / 128, kSize / 16), 256, 0);
    }
    GPU_CHECK(cudaGetLastError());
  };
  const std::int64_t begin = gpu::host_ns();
  int made = 0;
  while (times > 0 ? made < times : gpu::host_ns() - begin < 1'500'000'000) {
    // Enough in the queue that the device has no pause.
    for (int i = 0; i < (times > 0 ? 1 : 20); ++i, ++made) once();
    if (made % 200 == 0 || times > 0) GPU_CHECK(cudaDeviceSynchronize());
  }
  GPU_CHECK(cudaDeviceSynchronize());
  document.print();
}
