// What an annotated scope costs: recording, not recording, beside the clock and beside other SDKs.
//
//   sdk_bench [--rounds N] [--scopes N] [LIBRARY…]
//
// A LIBRARY is another SDK behind four functions of C: peer_name() -> const char*, peer_start(),
// peer_scopes(uint64_t n), which opens and closes n scopes one after the other, and peer_stop().
// All take turns, round by round; each figure is the best round, so that other work on
// the machine does not count. Rounds are bursts: what is noted down lies in memory when
// the round ends, and is written between rounds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "fathom/fathom.h"

namespace {

struct Contender {
  std::string name;
  std::function<void(std::uint64_t)> scopes;
  double best = std::numeric_limits<double>::infinity();
  double worst = 0;
};

/// Nothing of the loop may be left out.
void barrier() { asm volatile("" ::: "memory"); }

void empty_loop(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) barrier();
}

void clock_reads(std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    sum += fathom::detail::ticks();
    barrier();
  }
  asm volatile("" : : "r"(sum));
}

[[gnu::noinline]] void scopes(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const fathom::annotate scope("forward");
    barrier();
  }
}

[[gnu::noinline]] void nested_scopes(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; i += 4) {
    const fathom::annotate step("step");
    const fathom::annotate forward("forward");
    const fathom::annotate layer("layer");
    const fathom::annotate op("op");
    barrier();
  }
}

[[gnu::noinline]] void named_scopes(std::uint64_t count) {
  const std::string name("made at run time");
  for (std::uint64_t i = 0; i < count; ++i) {
    const fathom::annotate scope{std::string_view(name)};
    barrier();
  }
}

[[gnu::noinline]] void counters(std::uint64_t count) {
  static const fathom::counter queue("queue");
  for (std::uint64_t i = 0; i < count; ++i) {
    queue.set(static_cast<double>(i));
    barrier();
  }
}

struct Peer {
  std::string name;
  void (*start)() = nullptr;
  void (*scopes)(std::uint64_t) = nullptr;
  void (*stop)() = nullptr;
};

template <typename F>
bool find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

Peer load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char* (*name)() = nullptr;
  Peer peer;
  if (library == nullptr || !find(library, "peer_name", name) ||
      !find(library, "peer_start", peer.start) || !find(library, "peer_scopes", peer.scopes) ||
      !find(library, "peer_stop", peer.stop)) {
    std::fprintf(stderr, "%s: %s\n", path, library == nullptr ? dlerror() : "is no such library");
    std::exit(2);
  }
  peer.name = name();
  return peer;
}

void measure(Contender& contender, std::uint64_t count) {
  const auto begin = std::chrono::steady_clock::now();
  contender.scopes(count);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const double each = took.count() / static_cast<double>(count);
  contender.best = std::min(contender.best, each);
  contender.worst = std::max(contender.worst, each);
}

void run(std::vector<Contender>& all, int rounds, std::uint64_t count) {
  for (int round = 0; round < rounds; ++round)
    for (Contender& one : all) {
      measure(one, count);
      fathom::flush();
    }
}

double best(const std::vector<Contender>& all, const char* name) {
  for (const Contender& one : all)
    if (one.name == name) return one.best;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 200;
  std::uint64_t count = 20'000;
  std::vector<Peer> peers;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--scopes") == 0 && i + 1 < argc) {
      count = std::strtoull(argv[++i], nullptr, 10);
    } else {
      peers.push_back(load(argv[i]));
    }
  }
  std::vector<Contender> off{{"not recording", scopes}};
  fathom::stop();
  std::vector<Contender> loop{{"loop", empty_loop}};
  run(loop, rounds, count);
  run(off, rounds, count);

  char folder[] = "/tmp/fathom_sdk_bench.XXXXXX";
  if (mkdtemp(folder) == nullptr || !fathom::start(folder)) return 1;
  std::vector<Contender> on{{"clock", clock_reads},
                            {"fathom", scopes},
                            {"fathom, four nested", nested_scopes},
                            {"fathom, name made at run time", named_scopes},
                            {"fathom, counter", counters}};
  for (const Peer& peer : peers) {
    peer.start();
    on.push_back({peer.name, peer.scopes});
  }
  run(on, rounds, count);
  for (const Peer& peer : peers) peer.stop();
  fathom::stop();

  const double base = loop[0].best;
  const double clock = best(on, "clock") - base;
  std::printf("%-32s %9s %9s\n", "ns each", "best", "worst");
  std::printf("%-32s %9.2f\n", "loop", base);
  for (const auto* const list : {&off, &on})
    for (const Contender& one : *list)
      std::printf("%-32s %9.2f %9.2f\n", one.name.c_str(), one.best - base, one.worst - base);
  const double ours = best(on, "fathom") - base;
  std::printf("fathom beyond two clock reads: %.2f ns\n", ours - 2 * clock);
  for (const Peer& peer : peers)
    std::printf("fathom / %s: %.2f\n", peer.name.c_str(),
                ours / (best(on, peer.name.c_str()) - base));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
