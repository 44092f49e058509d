// Takes the logs of calls, from ticks into nanoseconds.
#include "capture/python/taken_calls.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

/// Both clocks at moments between which ticks are turned into nanoseconds evenly: so a call and
/// what it called nest whenever they are taken.
class Moments {
 public:
  void begin() {
    count_ = 0;
    add();
  }
  void add() {
    if (count_ == kMost) thin();
    const Ticks::Pair now = Ticks::both();
    if (count_ == 0 || now.ticks > pairs_[count_ - 1].ticks) pairs_[count_++] = now;
  }
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const {
    if (count_ < 2) return static_cast<std::int64_t>(pairs_[0].ns);
    // The last moment is most often near.
    std::size_t at = count_ - 2;
    if (ticks < pairs_[at].ticks) at = before(ticks);
    const Ticks::Pair& begin = pairs_[at];
    const Ticks::Pair& end = pairs_[at + 1];
    const double ratio =
        static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
    const auto since = static_cast<std::int64_t>(ticks - begin.ticks);
    return static_cast<std::int64_t>(begin.ns) +
           static_cast<std::int64_t>(static_cast<double>(since) * ratio);
  }

 private:
  static constexpr std::size_t kMost = 4096;
  /// The last moment before that has another after it.
  [[nodiscard]] std::size_t before(std::uint64_t ticks) const {
    std::size_t low = 0;
    std::size_t high = count_ - 1;
    while (low + 1 < high) {
      const std::size_t middle = (low + high) / 2;
      (pairs_[middle].ticks <= ticks ? low : high) = middle;
    }
    return low;
  }
  /// Long ago every second moment is enough.
  void thin() {
    for (std::size_t at = 1; at * 2 < count_; ++at) pairs_[at] = pairs_[at * 2];
    count_ = (count_ + 1) / 2;
  }
  Ticks::Pair pairs_[kMost];
  std::size_t count_ = 0;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of the process
Moments moments;

}  // namespace

TakenCalls::~TakenCalls() { std::free(calls); }

void begin_calls(std::int64_t least_ns) {
  moments.begin();
  const double ticks = static_cast<double>(least_ns) / Ticks::ns_per_tick();
  CallLog::begin(ticks < 0 ? 0 : static_cast<std::uint64_t>(ticks));
}

bool TakenCalls::copy(bool ends) {
  const std::uint64_t now = Ticks::now();
  std::size_t all = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    // A thread that is gone left calls of which nobody knows when they ended.
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    if (ends) each->profile.log_open(now);
    each->profile.calls().visit([&all](const CallLog::Call&) { ++all; });
  }
  if (ends) CallLog::stop();
  moments.add();
  calls = static_cast<TakenCall*>(std::calloc(all + 1, sizeof(TakenCall)));
  if (calls == nullptr) lost += all;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    CallLog& log = each->profile.calls();
    if (calls != nullptr) {
      log.visit([this](const CallLog::Call& call) {
        const std::int64_t start = moments.ns(call.begin);
        new (&calls[count++])
            TakenCall{start, moments.ns(call.end) - start, call.tid,
                      reinterpret_cast<std::uintptr_t>(call.label), call.open ? 1U : 0U};
      });
    }
    lost += log.lost();
    log.clear();
  }
  return calls != nullptr;
}

}  // namespace fathom::python
