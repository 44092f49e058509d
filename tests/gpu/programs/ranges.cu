// NVTX ranges around kernels; with the argument `window`, only those inside cudaProfilerStart and
// Stop are counted.
#include <cstring>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define GPU_HAS_NVTX 1
#else
#define GPU_HAS_NVTX 0
#endif

#include "program.h"

// As cuda_profiler_api.h has them, which not every toolkit brings.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart(void);
extern "C" cudaError_t CUDARTAPI cudaProfilerStop(void);

namespace {

void push(const char* name) {
#if GPU_HAS_NVTX
  nvtxRangePushA(name);
#else
  (void)name;
#endif
}

void pop() {
#if GPU_HAS_NVTX
  nvtxRangePop();
#endif
}

constexpr const char* kDomain = "fathom.gpu";

/// In a domain, by a string that is registered with it once.
class Registered {
 public:
  explicit Registered(const char* name) {
#if GPU_HAS_NVTX
    domain_ = nvtxDomainCreateA(kDomain);
    event_.version = NVTX_VERSION;
    event_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event_.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event_.message.registered = nvtxDomainRegisterStringA(domain_, name);
#else
    (void)name;
#endif
  }
  void push() {
#if GPU_HAS_NVTX
    nvtxDomainRangePushEx(domain_, &event_);
#endif
  }
  void pop() {
#if GPU_HAS_NVTX
    nvtxDomainRangePop(domain_);
#endif
  }

 private:
#if GPU_HAS_NVTX
  nvtxDomainHandle_t domain_ = nullptr;
  nvtxEventAttributes_t event_{};
#endif
};

}  // namespace

extern "C" __global__ void fathom_in_range(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

extern "C" __global__ void fathom_outside(std::uint64_t ns) {
  gpu::spin_until(gpu::device_clock(), ns);
}

int main(int count, char** arguments) {
  constexpr std::uint64_t kNs = 100'000;
  const bool window = count > 1 && std::strcmp(arguments[1], "window") == 0;
  gpu::Document document(window ? "ranges_window" : "ranges");
  const auto outside = [&] {
    fathom_outside<<<1, 32>>>(kNs);
    if (!window) document.kernel("fathom_outside", 1, 32, kNs);
    GPU_CHECK(cudaDeviceSynchronize());
  };
  Registered registered("registered range");
  outside();
  GPU_CHECK(cudaProfilerStart());
  for (int i = 0; i < 25; ++i) {
    push("outer range");
    push(i % 2 == 0 ? "even range" : "odd range");
    registered.push();
    fathom_in_range<<<1, 32>>>(kNs);
    document.kernel("fathom_in_range", 1, 32, kNs);
    GPU_CHECK(cudaDeviceSynchronize());
    registered.pop();
    pop();
    pop();
    if (GPU_HAS_NVTX == 0) continue;
    document.range("outer range");
    document.range(i % 2 == 0 ? "even range" : "odd range");
    document.range("registered range", kDomain);
  }
  GPU_CHECK(cudaProfilerStop());
  outside();
  document.print();
}
