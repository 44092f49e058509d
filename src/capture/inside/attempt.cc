// Counts work that was left undone for lack of memory.
#include "capture/inside/attempt.h"

#include <atomic>

namespace fathom::inside {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of the process
constinit std::atomic<std::uint64_t> failures{0};

}  // namespace

void count_failure() noexcept { failures.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t take_failures() noexcept { return failures.exchange(0, std::memory_order_relaxed); }

}  // namespace fathom::inside
