// Whether the processor's counter is a clock, and how fast it goes.
#include "capture/python/ticks.h"

#include <cstring>
#include <ctime>
#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace fathom::python {
namespace {

#ifdef __x86_64__
/// Constant in all states of power, by the processor's word.
bool is_invariant() {
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
  constexpr unsigned int kPower = 0x80000007;
  constexpr unsigned int kInvariant = 1U << 8U;
  return __get_cpuid(kPower, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
}

/// The kernel compares the counters of all processors, and takes another clock where they differ.
bool kernel_trusts_it() {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[64] = {};
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return false;
  for (const char* const clock : {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"})
    if (std::strcmp(text, clock) == 0) return true;
  return false;
}
#endif

/// Of ns, between two readings: a millisecond gives four digits.
constexpr std::uint64_t kEnough = 1'000'000;

double ratio(const Ticks::Pair& begin, const Ticks::Pair& end) {
  return static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): one clock of the process
bool Ticks::counted = false;
Ticks::Pair Ticks::begun;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool counter_is_clock() {
#ifdef __x86_64__
  return is_invariant() && kernel_trusts_it();
#elif defined __aarch64__
  return true;
#else
  return false;
#endif
}

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void Ticks::choose() {
  counted = counter_is_clock();
  begun = both();
}

Ticks::Pair Ticks::both() {
  Pair best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = now();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t after = now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, ns};
  }
  return best;
}

double Ticks::ns_per_tick() {
  if (!counted) return 1;
  Pair end = both();
  while (end.ns - begun.ns < kEnough) end = both();
  return ratio(begun, end);
}

double Ticks::ns_per_tick(const Pair& begin, const Pair& end) {
  if (!counted) return 1;
  return end.ns - begin.ns < kEnough ? ns_per_tick() : ratio(begin, end);
}

}  // namespace fathom::python
