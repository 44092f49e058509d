// Divides a thread's time among the stacks that it was met with.
#include "sample/thread_ledger.h"

#include <algorithm>

namespace fathom::sample {

void ThreadLedger::read(std::int64_t time, std::int64_t on_cpu, std::int64_t queued) {
  const std::int64_t ran = std::max<std::int64_t>(0, on_cpu - on_cpu_);
  const std::int64_t waited = std::max<std::int64_t>(0, queued - queued_);
  on_cpu_ = std::max(on_cpu_, on_cpu);
  queued_ = std::max(queued_, queued);
  left_.on_cpu += ran;
  left_.queued += waited;
  ran_ += ran + waited;
  const std::int64_t blocked = std::max(blocked_, time - begin_ - ran_);
  left_.blocked += blocked - blocked_;
  blocked_ = blocked;
}

Spent ThreadLedger::take_running() {
  const Spent taken{.on_cpu = left_.on_cpu, .queued = left_.queued};
  left_.on_cpu = 0;
  left_.queued = 0;
  return taken;
}

Spent ThreadLedger::take_blocked(std::int64_t most) {
  const Spent taken{.blocked = std::clamp<std::int64_t>(most, 0, left_.blocked)};
  left_.blocked -= taken.blocked;
  return taken;
}

bool blocked_unseen(const Between& looks) {
  if (looks.blocked <= kLongUnseen || looks.same_place) return false;
  // It has woken once and runs since, or was never off its processor before it fell asleep.
  const std::int64_t expected = looks.was_asleep ? 1 : 0;
  const bool seen = looks.was_asleep != looks.is_asleep && looks.scheduled == expected;
  return !seen;
}

}  // namespace fathom::sample
