// A program with annotations of all kinds that allocates nothing itself: what fails is the
// recorder.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fathom/fathom.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/starved.h"
#include "tests/programs/starving.h"

namespace {

/// Before the recorder is made, which is before all static initialisers.
[[gnu::constructor(101)]] void begin() { fathom::test::starve(); }

struct Early {
  Early() { const fathom::annotate scope("static initialiser"); }
  ~Early() { const fathom::annotate scope("static destructor"); }
};
const Early kEarly;

void nest(int depth) {
  const fathom::annotate scope("nested");
  if (depth > 1) nest(depth - 1);
}

void annotate_all() {
  constexpr int kDeep = 300;
  constexpr int kMany = 6000;  // more than a few chunks hold
  nest(kDeep);
  for (int i = 0; i < kMany; ++i) const fathom::annotate scope("one of many");
  for (int i = 0; i < 20; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "made up %d", i);
    const fathom::annotate scope{std::string_view(name)};
    fathom::instant(std::string_view(name));
  }
  for (int i = 0; i < 3; ++i) {
    fathom::step();
    fathom::frame("rhythm");
    fathom::frame("a rhythm of a name that is not a short one");
  }
  const fathom::counter queue("queue", "batches");
  const fathom::counter memory("memory of a name that is not a short one", "bytes");
  queue.set(3);
  memory.set(4);
  fathom::name_thread("a thread of a name that is not a short one");
  // The same stream in every run. NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* const stream = reinterpret_cast<const void*>(std::uintptr_t{0x1234});
  fathom::name_stream(stream, "a stream of a name that is not a short one");
}

void* in_thread(void* /*unused*/) {
  annotate_all();
  return nullptr;
}

void in_another_thread() {
  pthread_t thread{};
  {
    const fathom::test::Fed fed;
    if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0) std::_Exit(3);
  }
  pthread_join(thread, nullptr);
}

void profile() {
  fathom::profile profile({.wait = 1, .active = 1, .repeat = 2});
  for (int i = 0; i < 4; ++i) {
    const fathom::annotate scope("profiled");
    profile.step();
  }
}

/// 0 where all went well there.
int in_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    annotate_all();
    fathom::flush();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main() {
  annotate_all();
  in_another_thread();
  fathom::flush();
  const int failed = in_a_child();
  profile();
  return failed == 0 ? fathom::test::kStarvedExit : 1;
}
