// The clock of the recorder: the processor's counter, which takes a third of the time of
// clock_gettime.
#pragma once

#include <cstdint>

namespace fathom::python {

/// Whether the counter goes on evenly, on all processors together, as the kernel finds too. Where
/// it does not, ticks are nanoseconds of CLOCK_MONOTONIC.
bool counter_is_clock();

std::uint64_t monotonic_ns();

/// Reads the clock. Chosen once, before the first reading.
class Ticks {
 public:
  static void choose();
  static std::uint64_t now() {
#ifdef __x86_64__
    if (counted) return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    if (counted) {
      std::uint64_t value = 0;
      asm volatile("mrs %0, cntvct_el0" : "=r"(value));
      return value;
    }
#endif
    return monotonic_ns();
  }
  /// Nanoseconds of one tick, from all the time since choose().
  static double ns_per_tick();

  /// Both clocks at one moment; ns of CLOCK_MONOTONIC.
  struct Pair {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;
  };
  static Pair both();
  /// The same from the time between two readings, where that is long enough.
  static double ns_per_tick(const Pair& begin, const Pair& end);

 private:
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers):
  // one clock of the process
  static bool counted;
  static Pair begun;
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
};

/// Takes a sum in ticks away, as ns. Less than nothing, which two processors' counters may give,
/// waits for the next part.
inline std::int64_t take_ns(std::int64_t& ticks, double ns_per_tick) {
  if (ticks <= 0) return 0;
  const auto ns = static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick);
  ticks = 0;
  return ns;
}

}  // namespace fathom::python
