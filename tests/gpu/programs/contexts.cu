// Two contexts of one device beside the runtime's own: 30 kernels in each, in turn; then one of them ends.
#include <dlfcn.h>

#include "program.h"

extern "C" __global__ void fathom_first() {}
extern "C" __global__ void fathom_second() {}

namespace {

// The driver's functions that the runtime has no name for.
template <typename Function>
Function driver(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) gpu::not_possible("contexts", std::string("the driver has no ") + name);
  return reinterpret_cast<Function>(found);
}

void done(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: %d\n", what, status);
  std::exit(1);
}

}  // namespace

int main() {
  const auto create = driver<int (*)(void**, unsigned, int)>("cuCtxCreate_v2");
  const auto current = driver<int (*)(void*)>("cuCtxSetCurrent");
  const auto destroy = driver<int (*)(void*)>("cuCtxDestroy_v2");
  gpu::Document document("contexts");
  int devices = 0;
  GPU_CHECK(cudaGetDeviceCount(&devices));
  void* contexts[2] = {};
  cudaStream_t streams[2] = {};
  for (int i = 0; i < 2; ++i) {
    done(create(&contexts[i], 0, 0), "cuCtxCreate");
    GPU_CHECK(cudaStreamCreate(&streams[i]));
  }
  for (int i = 0; i < 30; ++i) {
    done(current(contexts[0]), "cuCtxSetCurrent");
    fathom_first<<<1, 32, 0, streams[0]>>>();
    document.kernel("fathom_first", 1, 32, 0);
    done(current(contexts[1]), "cuCtxSetCurrent");
    fathom_second<<<1, 32, 0, streams[1]>>>();
    document.kernel("fathom_second", 1, 32, 0);
  }
  for (void* context : contexts) {
    done(current(context), "cuCtxSetCurrent");
    GPU_CHECK(cudaDeviceSynchronize());
  }
  done(destroy(contexts[1]), "cuCtxDestroy");
  done(current(contexts[0]), "cuCtxSetCurrent");
  document.print();
}
