// A program with annotations, for the tests of the SDK: what it does is named by its argument.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fathom/fathom.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Annotates itself as it is made and as it goes, where that is asked for.
class Global {
 public:
  Global() {
    if (annotated_) const fathom::annotate scope("static initialiser");
  }
  ~Global() {
    if (annotated_) const fathom::annotate scope("static destructor");
  }

 private:
  bool annotated_ = std::getenv("ANNOTATE_GLOBALS") != nullptr;
};
const Global kGlobal;

/// Likewise, as its thread ends.
struct OfThread {
  OfThread() { const fathom::annotate scope("thread begins"); }
  ~OfThread() { const fathom::annotate scope("thread ends"); }
};

int threads() {
  constexpr int kThreads = 4;
  constexpr int kScopes = 10'000;
  std::vector<std::thread> all;
  all.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    all.emplace_back([t] {
      fathom::name_thread("worker " + std::to_string(t));
      for (int i = 0; i < kScopes; ++i) {
        const fathom::annotate outer("outer");
        const fathom::annotate inner("inner");
      }
    });
  for (std::thread& thread : all) thread.join();
  return 0;
}

int ends() {
  std::thread([] {
    thread_local const OfThread mine;
    static_cast<void>(mine);
  }).join();
  return 0;
}

int many_threads() {
  for (int i = 0; i < 500; ++i) std::thread([] { fathom::instant("hello"); }).join();
  return 0;
}

[[noreturn]] void crash(std::string_view how) {
  const fathom::annotate scope("crashing");
  { const fathom::annotate before("before"); }
  if (how == "segv") {
    constexpr std::size_t kPage = 4096;
    void* const nowhere = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile int*>(nowhere) = 1;
  }
  if (how == "abort") std::abort();
  if (how == "term") raise(SIGTERM);
  if (how == "exit") std::exit(3);
  if (how == "quick_exit") std::quick_exit(4);
  if (how == "_exit") _exit(5);
  if (how == "thread") std::thread([] { _exit(5); }).join();
  if (how == "pointer") reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "_exit"))(5);
  if (how == "handler") {
    std::signal(SIGUSR1, [](int) { _exit(5); });
    std::raise(SIGUSR1);
  }
  std::_Exit(how == "_Exit" ? 5 : 1);
}

/// A thousand threads, many of them at once.
int crowds() {
  constexpr int kAtOnce = 250;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> all;
    all.reserve(kAtOnce);
    for (int i = 0; i < kAtOnce; ++i)
      all.emplace_back([i] {
        fathom::name_thread("of a crowd " + std::to_string(i));
        for (int k = 0; k < 20; ++k) const fathom::annotate scope("in a crowd");
      });
    for (std::thread& thread : all) thread.join();
  }
  return 0;
}

void throw_from(int depth) {
  const fathom::annotate scope("left by an exception");
  if (depth == 0) throw std::runtime_error("on purpose");
  throw_from(depth - 1);
}

int exceptions() {
  for (int i = 0; i < 10; ++i) {
    try {
      throw_from(4);
    } catch (const std::runtime_error&) {
      fathom::instant("caught");
    }
  }
  const fathom::annotate scope("after them");
  return 0;
}

/// A thread that is cancelled while it is in the recorder, which writes for it.
int cancelled() {
  pthread_t thread{};
  const auto body = [](void*) -> void* {
    { const fathom::annotate scope("before the cancellation"); }
    pthread_cancel(pthread_self());
    fathom::flush();
    fathom::instant("after the recorder");
    pthread_testcancel();
    return nullptr;
  };
  void* result = nullptr;
  if (pthread_create(&thread, nullptr, body, nullptr) != 0) return 1;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED ? 0 : 2;
}

int odd_names() {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  const std::string large(kMegabyte, 'x');
  std::string euros = "b";
  while (euros.size() < kMegabyte / 16) euros += "\xe2\x82\xac";
  for (const std::string_view name :
       {std::string_view(large), std::string_view(euros), std::string_view("\"quoted\" \\ \n\x01"),
        std::string_view("null\0inside", 11), std::string_view()}) {
    const fathom::annotate scope(name);
    fathom::instant(name);
    fathom::counter(name, name).set(1);
    fathom::name_thread(name);
    fathom::frame(name);
  }
  fathom::name_thread(large);
  return 0;
}

/// Children that end at once, one with its parent's memory and one with a copy of it.
int children() {
  { const fathom::annotate scope("before"); }
  int status = 0;
  int failed = 0;
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): what programs do
  const pid_t borrower = vfork();
  if (borrower == 0) _exit(0);
  failed += waitpid(borrower, &status, 0) != borrower || status != 0;
  const pid_t child = fork();
  if (child == 0) {
    { const fathom::annotate scope("in child"); }
    _exit(0);
  }
  failed += waitpid(child, &status, 0) != child || status != 0;
  { const fathom::annotate scope("after"); }
  _exit(failed);
}

/// Until it is killed.
int forever() {
  const fathom::annotate scope("forever");
  for (;;) {
    fathom::instant("still here");
    usleep(1000);
  }
}

int forks() {
  const fathom::annotate scope("around fork");
  { const fathom::annotate before("before fork"); }
  const pid_t child = fork();
  if (child == 0) {
    { const fathom::annotate in_child("in child"); }
    std::thread([] { const fathom::annotate of_child("thread of child"); }).join();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const fathom::annotate after("after fork");
  return WEXITSTATUS(status);
}

/// Of a child that notes down one scope and ends.
int status_of_forked_child() {
  const pid_t child = fork();
  if (child == 0) {
    { const fathom::annotate scope("in child"); }
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// What has been converted but not written yet when it forks is the parent's alone.
int forks_after_threads() {
  for (int t = 0; t < 300; ++t)
    std::thread([] {
      for (int i = 0; i < 10; ++i) const fathom::annotate scope("of a thread");
    }).join();
  return WEXITSTATUS(status_of_forked_child());
}

/// Forks again and again while other threads note down as fast as they can.
int forks_in_a_storm() {
  std::atomic<bool> done{false};
  std::array<std::thread, 3> storm;
  for (std::thread& thread : storm)
    thread = std::thread([&done] {
      while (!done) {
        const fathom::annotate scope("storm");
        const fathom::annotate named{std::string_view("named " + std::to_string(rand() % 100))};
      }
    });
  int failed = 0;
  for (int i = 0; i < 20; ++i) failed += status_of_forked_child() != 0;
  done = true;
  for (std::thread& thread : storm) thread.join();
  return failed;
}

int values() {
  const fathom::counter queue("queue", "batches");
  const fathom::counter same("queue", "batches");
  queue.set(3);
  same.set(0.5);
  fathom::name_stream(reinterpret_cast<void*>(0x2a), "copies");
  for (int i = 0; i < 3; ++i) {
    fathom::frame("request");
    fathom::step();
  }
  return 0;
}

int schedule() {
  fathom::profile profile({.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1});
  for (int i = 0; i < 12; ++i) {
    const std::string name = "work " + std::to_string(i);
    { const fathom::annotate scope{std::string_view(name)}; }
    profile.step();
  }
  return 0;
}

int start_in(const char* folder) {
  if (fathom::recording()) return 1;
  { const fathom::annotate scope("too early"); }
  if (!fathom::start(folder) || !fathom::recording()) return 2;
  { const fathom::annotate scope("recorded"); }
  fathom::stop();
  { const fathom::annotate scope("not any more"); }
  return fathom::recording() ? 3 : 0;
}

/// More than fits into the memory that it may use.
int flood() {
  for (int i = 0; i < 300'000; ++i) {
    const fathom::annotate scope("drop");
  }
  return 0;
}

int out_of_order() {
  auto first = std::make_unique<fathom::annotate>("first");
  auto second = std::make_unique<fathom::annotate>("second");
  first.reset();
  second.reset();
  return 0;
}

/// Rounds with names of their own.
int steps(int count) {
  for (int i = 0; i < count; ++i) {
    { const fathom::annotate scope{std::string_view("work " + std::to_string(i))}; }
    fathom::step();
  }
  return 0;
}

int ranges() {
  for (int i = 0; i < 4; ++i) {
    { const fathom::annotate outside("outside"); }
    const fathom::annotate around("around");
    const fathom::annotate wanted("wanted");
    const fathom::annotate again("wanted");
    const fathom::annotate inside{std::string_view("inside " + std::to_string(i))};
    std::thread([] { const fathom::annotate elsewhere("elsewhere"); }).join();
  }
  const fathom::annotate outside("outside");
  return 0;
}

/// Waits for the recording to begin.
int delayed() {
  constexpr int kPause = 1000;
  while (!fathom::recording()) usleep(kPause);
  const fathom::annotate scope("in time");
  return 0;
}

/// Waits for the recording to end.
int outlasts() {
  constexpr int kPause = 1000;
  while (fathom::recording()) usleep(kPause);
  const fathom::annotate scope("late");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "threads") return threads();
  if (what == "ends") return ends();
  if (what == "many_threads") return many_threads();
  if (what == "crash" && argc > 2) crash(argv[2]);
  if (what == "children") return children();
  if (what == "forever") return forever();
  if (what == "forks") return forks();
  if (what == "forks_after_threads") return forks_after_threads();
  if (what == "crowds") return crowds();
  if (what == "exceptions") return exceptions();
  if (what == "cancelled") return cancelled();
  if (what == "odd_names") return odd_names();
  if (what == "forks_in_a_storm") return forks_in_a_storm();
  if (what == "values") return values();
  if (what == "schedule") return schedule();
  if (what == "steps" && argc > 2) return steps(std::atoi(argv[2]));
  if (what == "ranges") return ranges();
  if (what == "delayed") return delayed();
  if (what == "outlasts") return outlasts();
  if (what == "start_in" && argc > 2) return start_in(argv[2]);
  if (what == "flood") return flood();
  if (what == "out_of_order") return out_of_order();
  if (what == "exec" && argc > 2) {
    { const fathom::annotate scope("before exec"); }
    fathom::flush();
    execl(argv[0], argv[0], argv[2], nullptr);
  }
  if (what == "nothing") return fathom::recording() ? 1 : 0;
  std::fprintf(stderr, "%s: what?\n", argv[0]);
  return 2;
}
