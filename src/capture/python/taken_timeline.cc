// Begins the timelines of lines and ends them, from ticks into nanoseconds.
#include "capture/python/taken_timeline.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of the process
Ticks::Pair begun;

/// Moments between two readings of both clocks: exact at both ends.
class Clock {
 public:
  Clock(const Ticks::Pair& begin, const Ticks::Pair& end)
      : begin_(begin), ratio_(Ticks::ns_per_tick(begin, end)) {}
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const {
    const auto since = static_cast<std::int64_t>(ticks - begin_.ticks);
    return static_cast<std::int64_t>(begin_.ns) +
           static_cast<std::int64_t>(static_cast<double>(since) * ratio_);
  }

 private:
  Ticks::Pair begin_;
  double ratio_;
};

}  // namespace

TakenTimeline::~TakenTimeline() { std::free(runs); }

void begin_timelines() {
  begun = Ticks::both();
  LineTimeline::turn(true);
  const std::uint64_t now = Ticks::now();
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    each->lines.begin_timeline(now);
  }
}

bool TakenTimeline::copy() {
  LineTimeline::turn(false);
  const std::uint64_t now = Ticks::now();
  const Clock clock(begun, Ticks::both());
  std::size_t all = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    each->lines.timeline().visit(now, [&all](const LineTimeline::Run&) { ++all; });
  }
  runs = static_cast<TakenRun*>(std::calloc(all + 1, sizeof(TakenRun)));
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    LineTimeline& timeline = each->lines.timeline();
    if (runs != nullptr) {
      timeline.visit(now, [this, &clock](const LineTimeline::Run& run) {
        const std::int64_t start = clock.ns(run.begin);
        new (&runs[count++])
            TakenRun{start, clock.ns(run.end) - start, run.tid,
                     reinterpret_cast<std::uintptr_t>(run.table->code), run.statement};
      });
    }
    lost += timeline.lost();
    timeline.clear();
  }
  return runs != nullptr;
}

}  // namespace fathom::python
