// A program that uses CUDA as far as tests need and allocates nothing itself: what fails is the
// library that the driver loads.
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

#include "tests/programs/starved.h"
#include "tests/programs/starving.h"

namespace {

using fathom::test::Fed;

template <typename Function>
Function find(void* library, const char* name) {
  const Fed fed;
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

void* load(const char* variable, int scope) {
  const Fed fed;
  const char* const path = std::getenv(variable);
  return path == nullptr ? nullptr : dlopen(path, RTLD_NOW | scope);
}

/// What the driver and the GPU do; the fake of CUPTI calls the recorder's callbacks meanwhile.
void use(void* gpu) {
  const auto call = [gpu](const char* name) { find<void (*)()>(gpu, name)(); };
  find<void (*)(int)>(gpu, "fake_work")(20);
  find<void (*)(int)>(gpu, "fake_launch")(20);
  call("fake_profiler_start");
  find<void (*)(int)>(gpu, "fake_work")(3);
  call("fake_profiler_stop");
}

}  // namespace

int main() {
  void* const gpu = load("FATHOM_CUPTI", RTLD_GLOBAL);
  void* const library = load("CUDA_INJECTION64_PATH", RTLD_LOCAL);
  const auto initialize = find<int (*)()>(library, "InitializeInjection");
  if (gpu == nullptr || initialize == nullptr) return 2;
  fathom::test::starve();
  if (initialize() != 1) return 3;
  use(gpu);
  if (std::getenv("STARVED_METRICS") != nullptr) usleep(20'000);
  return fathom::test::kStarvedExit;
}
