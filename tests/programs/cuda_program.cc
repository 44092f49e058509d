// A program that uses CUDA as far as tests need: it loads what CUDA_INJECTION64_PATH names, as the
// driver does, and has the fake CUPTI do what a GPU would.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fathom/step.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef FATHOM_SANITIZE_THREAD
/// The loader holds a lock while it says what is loaded and while it loads, which the sanitizer
/// does not see: it takes the names that the recorder copies for written meanwhile.
extern "C" const char* __tsan_default_suppressions() { return "race:note_loaded\n"; }
#endif

namespace {

using Initialize = int (*)();
using Work = void (*)(int rounds);
using Simple = void (*)();
using Question = int (*)();

/// The fake; it is the driver too, whose functions all may see. FAKE_GPU: where the recorder is to
/// find it by itself.
void* fake_gpu() {
  const char* const elsewhere = std::getenv("FAKE_GPU");
  const char* const path = elsewhere == nullptr ? std::getenv("FATHOM_CUPTI") : elsewhere;
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

/// Until the recorder records, or does no more; works so often at each look.
void wait_until(void* gpu, bool recording, int rounds) {
  const auto asked = find<Question>(gpu, "fake_recording");
  const auto work = find<Work>(gpu, "fake_work");
  constexpr int kPause = 1000;
  while ((asked() != 0) != recording) {
    work(rounds);
    usleep(kPause);
  }
}

/// Loads libraries of CUDA's, and calls them when they are heard.
int call_libraries() {
  constexpr int kPause = 1000;
  const char* const folder = std::getenv("FAKE_LIBRARIES");
  for (const char* const name : {"libcublas.so", "libcublasLt.so", "libcudnn.so"}) {
    const std::string path = std::string(folder == nullptr ? "." : folder) + '/' + name;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto is_heard = find<Question>(library, "fake_is_heard");
    if (is_heard == nullptr) return 3;
    while (is_heard() == 0) usleep(kPause);
    find<Simple>(library, "fake_call")();
  }
  return 0;
}

/// For the launcher's limits. False where there is none of that name.
bool limited(void* gpu, const std::string& what) {
  const auto work = find<Work>(gpu, "fake_work");
  constexpr int kLonger = 100;  // than what the made-up GPU does at once, microseconds
  if (what == "delayed") {
    wait_until(gpu, true, 1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < until) {
      work(1);
      usleep(kLonger);
    }
  } else if (what == "outlasts") {
    wait_until(gpu, false, 1);
    work(2);
  } else if (what == "signals") {
    work(2);
    raise(SIGUSR2);
    wait_until(gpu, true, 0);
    work(3);
    usleep(kLonger);
    raise(SIGUSR2);
    wait_until(gpu, false, 0);
    work(4);
  } else if (what == "steps") {
    for (int i = 0; i < 12; ++i) {
      work(1);
      usleep(kLonger);
      fathom::step();
    }
  } else if (what == "long") {
    work(5);
    for (int i = 0; i < 6; ++i) {
      find<Simple>(gpu, "fake_wait_for_flush")();
      work(1);
    }
  } else {
    return false;
  }
  return true;
}

std::int64_t cpu_ns(clockid_t clock) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

/// Prints what a round of work costs the processor: this thread, and all of them with the end.
void cost(void* gpu, bool read) {
  constexpr int kRounds = 20'000;
  const std::int64_t process = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t thread = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  find<Work>(gpu, "fake_work")(kRounds);
  const std::int64_t spent = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
  // Until all of it is in the file.
  if (read) find<Simple>(gpu, "fake_wait_for_flush")();
  std::printf("%lld %lld\n", static_cast<long long>(spent / kRounds),
              static_cast<long long>((cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process) / kRounds));
}

/// The fake's function that ends a context so; null: it is something else that is asked for.
const char* end_of_context(const std::string& what) {
  return what == "device reset"      ? "fake_device_reset"
         : what == "primary reset"   ? "fake_primary_reset"
         : what == "context destroy" ? "fake_context_destroy"
         : what == "context release" ? "fake_context_release"
                                     : nullptr;
}

/// What CUPTI does in rarer cases. False where there is none of that name.
bool rarely(void* gpu, const std::string& what) {
  const auto work = find<Work>(gpu, "fake_work");
  const auto simply = [gpu](const char* name) { find<Simple>(gpu, name)(); };
  constexpr int kLonger = 100;  // than a kernel of the made-up GPU lasts, microseconds
  if (what == "launch") {
    find<Work>(gpu, "fake_launch")(6);
  } else if (what == "launch, stream of the thread") {
    find<Work>(gpu, "fake_launch_ptsz")(6);
  } else if (what == "launch, cooperative") {
    find<Work>(gpu, "fake_launch_cooperative")(3);
  } else if (what == "launch, graphs") {
    find<Work>(gpu, "fake_launch_graph")(3);
  } else if (const char* const ends = end_of_context(what.substr(0, what.find(',')))) {
    const bool never_done = what.ends_with(", never done");
    if (never_done) simply("fake_never_done");
    work(5);
    if (never_done) simply("fake_endless_kernel");
    if (what != "context release") find<Work>(gpu, "fake_queue")(3);
    simply(ends);
    work(2);
  } else if (what == "context destroy beside" || what == "primary reset beside") {
    simply("fake_endless_kernel");
    work(5);
    simply(what == "primary reset beside" ? "fake_primary_reset" : "fake_context_destroy");
    // What was handed over by then is in the file.
    simply("fake_wait_for_flush");
    simply("fake_end_kernel");
  } else if (what == "queued") {
    work(2);
    find<Work>(gpu, "fake_queue")(3);
  } else if (what == "fatal error") {
    work(5);
    simply("fake_fatal_error");
  } else if (what == "range" || what == "range, runtime") {
    const bool runtime = what != "range";
    work(2);
    usleep(kLonger);
    simply(runtime ? "fake_runtime_profiler_start" : "fake_profiler_start");
    work(3);
    usleep(kLonger);
    simply(runtime ? "fake_runtime_profiler_stop" : "fake_profiler_stop");
    work(4);
  } else if (what == "two ranges") {
    for (int i = 0; i < 2; ++i) {
      work(2);
      usleep(kLonger);
      simply("fake_profiler_start");
      work(3);
      usleep(kLonger);
      simply("fake_profiler_stop");
    }
  } else if (what == "one runs, killed" || what == "one ended, killed") {
    work(3);
    simply("fake_endless_kernel");
    if (what == "one ended, killed") simply("fake_end_kernel");
    simply("fake_wait_for_flush");
    raise(SIGKILL);
  } else if (what == "graphs") {
    find<Work>(gpu, "fake_graph")(30);
  } else if (what == "noise") {
    work(2);
    find<Work>(gpu, "fake_noise")(50);
  } else if (what == "cost" || what == "cost, unread") {
    // Whoever takes the buffers then gives them back unread.
    if (what == "cost, unread") simply("fake_unread");
    cost(gpu, what == "cost");
  } else if (what == "host function") {
    simply("fake_host_function");
  } else if (what == "endless") {
    work(2);
    simply("fake_endless_kernel");
  } else if (what == "much" || what == "much, lingers") {
    work(2000);
  } else {
    return false;
  }
  return true;
}

/// Where the program's own range is to be recorded, and no more.
void begin_range(void* gpu) {
  const char* const said = std::getenv("FAKE_RANGE");
  if (said != nullptr && *said != '\0') find<Simple>(gpu, "fake_profiler_start")();
}

/// Imports PyTorch after it has used the GPU, and then its profiler wants CUPTI, which answers.
int import_torch_late(void* gpu) {
  const auto work = find<Work>(gpu, "fake_work");
  begin_range(gpu);
  work(5);
  const char* const path = std::getenv("FAKE_TORCH");
  if (path == nullptr || dlopen(path, RTLD_NOW | RTLD_LOCAL) == nullptr) return 3;
  const auto subscribe = find<Question>(gpu, "fake_kineto_subscribes");
  constexpr int kLooks = 10'000;
  constexpr int kPause = 1000;
  int answer = subscribe();
  for (int look = 0; look < kLooks && answer != 0; ++look) {
    usleep(kPause);
    answer = subscribe();
  }
  if (answer != 0) return answer;
  // What CUPTI goes on to fill comes back to the recorder until the other has buffers.
  const int before = find<Question>(gpu, "fake_buffers")();
  constexpr int kMany = 1000;
  constexpr int kNoMore = 20;
  for (int i = 0; i < kMany; ++i) work(5);
  if (find<Question>(gpu, "fake_buffers")() > before + kNoMore) return 4;
  find<Simple>(gpu, "fake_kineto_records")();
  work(5);
  return 0;
}

/// Until the recorder has read CUPTI's clock so often more, as it does before anything else.
void wait_for_readings(void* gpu, int more) {
  const auto readings = find<Question>(gpu, "fake_clock_readings");
  constexpr int kPause = 1000;
  for (const int until = readings() + more; readings() < until;) usleep(kPause);
}

/// A profiler takes CUPTI, as Kineto does from torch 2.15 on; what the recorder hears of afterwards
/// leaves that one's buffers and kinds alone.
int be_taken(void* gpu) {
  const auto simply = [gpu](const char* name) { find<Simple>(gpu, name)(); };
  const auto asked = [gpu](const char* name) { return find<Question>(gpu, name)(); };
  begin_range(gpu);
  find<Work>(gpu, "fake_work")(5);
  simply("fake_kineto_takes");
  find<Work>(gpu, "fake_work")(2);
  wait_for_readings(gpu, 2);
  simply("fake_kineto_ends");
  const int flushes = asked("fake_foreign_flushes");
  const int records = asked("fake_recording");
  simply("fake_profiler_start");
  simply("fake_profiler_stop");
  simply("fake_context_destroy");
  return asked("fake_foreign_flushes") == flushes && asked("fake_recording") == records ? 0 : 4;
}

/// By a profiler whose clock is like CUPTI's, with launches of either kind. The recorder hears of
/// plain ones when no buffer has come back for a second.
void be_taken_quietly(void* gpu, bool plain) {
  find<Work>(gpu, "fake_work")(5);
  find<Simple>(gpu, "fake_kineto_records")();
  find<Simple>(gpu, "fake_wait_for_flush")();
  constexpr int kLaunches = 10'000;
  constexpr int kOfTwoLooks = 12;
  constexpr int kOfAWhile = 36;
  if (plain) wait_for_readings(gpu, kOfAWhile);
  find<Work>(gpu, plain ? "fake_launch" : "fake_launch_ex")(kLaunches);
  wait_for_readings(gpu, kOfTwoLooks);
}

/// Of a program that works, and whose buffers come back, plain launches cost no callback.
int be_busy(void* gpu) {
  constexpr int kRounds = 10;
  for (int i = 0; i < kRounds; ++i) {
    find<Work>(gpu, "fake_work")(1);
    find<Work>(gpu, "fake_launch")(1);
    find<Simple>(gpu, "fake_wait_for_flush")();
  }
  return find<Question>(gpu, "fake_plain_launches_told")() == 0 ? 0 : 4;
}

/// Of the last handler of all: until buffers that are on their way have come.
void wait_at_end() { find<Simple>(fake_gpu(), "fake_wait_for_deliveries")(); }

}  // namespace

/// As in a process of Python; FAKE_PYTHON=0: that is linked to it and has not started it.
extern "C" [[gnu::visibility("default")]] int
Py_IsInitialized() {  // NOLINT(readability-identifier-naming)
  const char* const said = std::getenv("FAKE_PYTHON");
  return said != nullptr && *said == '0' ? 0 : 1;
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "work";
  // As the hook does.
  if (std::getenv("FAKE_HOOK") != nullptr)
    setenv("FATHOM_PARENT", (std::to_string(getpid()) + ":-1:main").c_str(), 1);
  if (what == "becomes another Python") {
    // Which reads no environment, and so has no hook.
    unsetenv("FAKE_HOOK");
    execl(argv[0], argv[0], "work", nullptr);
  }
  if (what == "much, lingers") std::atexit([] { wait_at_end(); });
  void* const gpu = fake_gpu();
  const auto work = find<Work>(gpu, "fake_work");
  if (what == "held") {
    const auto hold = find<Simple>(gpu, "fake_hold");
    if (hold == nullptr) return 3;
    hold();
  }
  if (what == "context first") find<Simple>(gpu, "fake_make_context")();
  if (!inject()) return 2;
  if (work == nullptr) return what == "alone" ? 0 : 3;
  if (rarely(gpu, what)) return 0;
  if (what == "torch later") return import_torch_late(gpu);
  if (what == "taken") return be_taken(gpu);
  if (what == "taken quietly" || what == "taken quietly, plain") {
    be_taken_quietly(gpu, what != "taken quietly");
    return 0;
  }
  if (what == "another clock") {
    work(5);
    find<Simple>(gpu, "fake_sets_clock")();
    work(3);
    constexpr int kOfFourLooks = 25;
    wait_for_readings(gpu, kOfFourLooks);
    return 0;
  }
  if (what == "busy, plain") return be_busy(gpu);
  if (what == "much, killed") {
    // The last look takes what is in full buffers.
    work(2000);
    find<Simple>(gpu, "fake_wait_for_flush")();
    raise(SIGKILL);
  }
  if (limited(gpu, what)) return 0;
  if (what == "steps, _exit" && limited(gpu, "steps")) _exit(0);
  if (what == "libraries") return call_libraries();
  work(5);
  if (what == "metrics, another clock") {
    constexpr int kOfManyLooks = 60;
    find<Work>(gpu, "fake_wait_for_looks")(3);
    find<Simple>(gpu, "fake_sets_clock")();
    wait_for_readings(gpu, kOfManyLooks);
    return 0;
  }
  if (what == "metrics, taken") {
    find<Work>(gpu, "fake_wait_for_looks")(3);
    find<Simple>(gpu, "fake_kineto_takes")();
    find<Work>(gpu, "fake_wait_for_looks")(8);
    return 0;
  }
  if (what == "metrics, contexts")
    for (int i = 0; i < 2; ++i) find<Simple>(gpu, "fake_context_made")();
  if (what == "metrics" || what == "metrics, contexts" || what == "metrics, crash") {
    // Looks at samples in between; what was not looked at yet comes with the end.
    find<Work>(gpu, "fake_wait_for_looks")(6);
    if (what == "metrics, crash") raise(SIGTERM);
  }
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) return 0;
    int status = 0;
    waitpid(child, &status, 0);
    work(1);
    return status;
  }
  if (what == "_exit") _exit(0);
  if (what == "killed" || what == "exec" || what == "exit_group") {
    // What was delivered is in the file after the next tick; what comes now may be lost.
    find<Simple>(gpu, "fake_wait_for_flush")();
    work(2);
    if (what == "killed") raise(SIGKILL);
    if (what == "exit_group") syscall(SYS_exit_group, 0);
    execl(argv[0], argv[0], "work", nullptr);
  }
  if (what == "quick_exit") std::quick_exit(0);
  if (what == "crash") {
    // What was delivered is in the file after the next tick.
    find<Simple>(gpu, "fake_wait_for_flush")();
    work(2);
    raise(SIGTERM);
  }
  return 0;
}
