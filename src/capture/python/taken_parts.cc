// Folds the sums of all threads, and keeps what was new in them.
#include "capture/python/taken_parts.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

/// Calls fold(ThreadProfile, now, ns_per_tick) for each thread, those that are gone included.
template <typename Fold>
void each_thread(const Fold& fold) {
  const std::uint64_t now = Ticks::now();
  const double ratio = Ticks::ns_per_tick();
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    fold(*each, now, ratio);
  }
}

}  // namespace

template <typename Row>
TakenPart<Row>::~TakenPart() {
  std::free(rows);
}

template <typename Row>
void TakenPart<Row>::add(const Row& row) {
  constexpr std::size_t kFirst = 256;
  if (count == room_) {
    const std::size_t room = room_ == 0 ? kFirst : room_ * 2;
    auto* const made = static_cast<Row*>(std::realloc(rows, room * sizeof(Row)));
    if (made == nullptr) {
      ++lost;
      return;
    }
    rows = made;
    room_ = room;
  }
  new (&rows[count++]) Row(row);
}

template struct TakenPart<FunctionPartRow>;
template struct TakenPart<LinePartRow>;

void take_part(TakenPart<FunctionPartRow>& part) {
  each_thread([&part](ThreadProfile& thread, std::uint64_t now, double ratio) {
    thread.profile.fold(now, ratio, [&part](const FunctionPart& row) {
      part.add({address_of(row.label), row.calls, row.self, row.total});
    });
  });
}

void take_part(TakenPart<LinePartRow>& part) {
  each_thread([&part](ThreadProfile& thread, std::uint64_t now, double ratio) {
    thread.lines.fold(
        now, ratio, [&part](const ThreadCode& code, unsigned statement, const FoldedSums& sums) {
          part.add({address_of(code.table->code), statement, sums.hits, sums.self, sums.total});
        });
  });
}

}  // namespace fathom::python
