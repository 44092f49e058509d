// A program that uses CUDA as far as tests need: it loads what CUDA_INJECTION64_PATH names, as the
// driver does, and has the stand-in for CUPTI do what a GPU would.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Initialize = int (*)();
using Work = void (*)(int rounds);
using Simple = void (*)();

/// The stand-in; it is the driver too, whose functions all may see.
void* stand_in() {
  const char* const path = std::getenv("FATHOM_CUPTI");
  return path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

template <typename Function>
Function find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

bool inject() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto initialize = find<Initialize>(library, "InitializeInjection");
  return initialize != nullptr && initialize() == 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "work";
  void* const gpu = stand_in();
  const auto work = find<Work>(gpu, "stand_in_work");
  if (what == "held") {
    const auto hold = find<Simple>(gpu, "stand_in_hold");
    if (hold == nullptr) return 3;
    hold();
  }
  if (!inject()) return 2;
  if (work == nullptr) return what == "alone" ? 0 : 3;
  if (what == "launch") {
    find<Work>(gpu, "stand_in_launch")(6);
    return 0;
  }
  if (what == "range") {
    work(2);
    find<Simple>(gpu, "stand_in_profiler_start")();
    work(3);
    find<Simple>(gpu, "stand_in_profiler_stop")();
    work(4);
    return 0;
  }
  work(5);
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) return 0;
    int status = 0;
    waitpid(child, &status, 0);
    work(1);
    return status;
  }
  if (what == "_exit" || what == "crash") {
    // What was delivered is in the file after the next tick.
    find<Simple>(gpu, "stand_in_wait_for_flush")();
    if (what == "_exit") _exit(0);
    work(2);
    raise(SIGTERM);
  }
  return 0;
}
