// A program under the counting malloc: what fails beneath it is handed on, and counts for nothing.
#include <cstdint>
#include <cstdlib>

#include <fathom/fathom.h>
#include <fathom/memory.h>

#include "tests/programs/starved.h"
#include "tests/programs/starving.h"

namespace {

// Much more than the recorder, whose own allocations count too.
constexpr std::size_t kBytes = std::size_t{16} << 20U;
constexpr std::size_t kMore = std::size_t{20} << 20U;

/// Before the recorder is made, which is before all static initialisers.
[[gnu::constructor(101)]] void begin() { fathom::test::starve(); }

void annotate() {
  for (int i = 0; i < 3; ++i) {
    const fathom::annotate scope("work under the counting malloc");
    fathom::step();
  }
  fathom::flush();
}

/// What was allocated and freed since then.
struct Since {
  fathom::memory_totals before = fathom::memory();
  [[nodiscard]] bool allocated_much() const {
    return fathom::memory().allocated_bytes - before.allocated_bytes >= kBytes;
  }
  [[nodiscard]] bool freed_much() const {
    return fathom::memory().freed_bytes - before.freed_bytes >= kBytes;
  }
};

/// Is what was handed out counted, and what was not, not?
bool counts_what_there_is() {
  const Since start{};
  // What the compiler knows of pointers that were freed is of no use here.
  void* volatile memory = std::malloc(kBytes);
  const bool there = memory != nullptr;
  const bool begun = start.allocated_much() == there;
  const Since kept{};
  void* volatile moved = std::realloc(memory, kMore);
  const bool grown = moved != nullptr;
  const bool moved_once = kept.allocated_much() == grown;
  // Where there is no room for more, what was there stays.
  const bool stayed = kept.freed_much() == (grown && there);
  const Since end{};
  std::free(grown ? moved : memory);
  return begun && moved_once && stayed && end.freed_much() == (grown || there);
}

bool overflows_give_nothing() {
  // Unknown to the compiler, which would warn.
  volatile std::size_t huge = SIZE_MAX / 2;
  void* volatile memory = std::calloc(huge, 4);
  const bool refused = memory == nullptr;
  std::free(memory);
  return refused;
}

}  // namespace

int main() {
  annotate();
  if (!counts_what_there_is()) return 1;
  if (!overflows_give_nothing()) return 2;
  annotate();
  return fathom::test::kStarvedExit;
}
