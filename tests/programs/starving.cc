// Counts allocations, and chooses which of them fail.
#include "tests/programs/starving.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/starved.h"

namespace fathom::test {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): there is one malloc
constinit std::atomic<bool> starving{false};
constinit StarvingReport nowhere{};
constinit StarvingReport* report = &nowhere;
constinit std::uint64_t fails_at = 0;
constinit bool fails_after = false;
__thread int fed = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

bool fails() {
  if (!starving.load(std::memory_order_acquire) || fed > 0) return false;
  const std::uint64_t number = report->allocations.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool failed = number == fails_at || (fails_after && number > fails_at);
  if (failed) report->failed.fetch_add(1, std::memory_order_relaxed);
  return failed;
}

void starve() {
  const char* const at = std::getenv("STARVE_AT");
  const char* const path = std::getenv("STARVE_REPORT");
  if (at == nullptr || path == nullptr) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  void* const memory =
      mmap(nullptr, sizeof(StarvingReport), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  report = static_cast<StarvingReport*>(memory);
  // One that waits for ever has not survived.
  constexpr unsigned kSeconds = 60;
  alarm(kSeconds);
  fails_at = std::strtoull(at, nullptr, 10);
  fails_after = std::getenv("STARVE_ALL") != nullptr;
  starving.store(true, std::memory_order_release);
}

}  // namespace fathom::test

// NOLINTNEXTLINE(readability-identifier-naming): of C
extern "C" int* starving_fed() { return &fathom::test::fed; }
