// Records NVTX ranges.
#include "capture/nvtx/ranges.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include <fathom/record.h>

#include "capture/inside/attempt.h"
#include "capture/inside/never_freed.h"
#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"
#include "capture/nvtx/per_thread.h"

namespace fathom::nvtx {
namespace {

/// Begins of a thread's open ranges of one domain. 0: was not recorded.
struct Stack {
  std::vector<std::uint64_t> begins;
  std::size_t beyond = 0;  ///< Further ones, for which there was no memory.
};
/// By the index of their domain.
using Stacks = std::vector<Stack>;

/// Null where there is no memory for it.
Stack* stack_of(const Domain* domain) {
  Stacks* const stacks = PerThread<Stacks>::get();
  if (stacks == nullptr) return nullptr;
  const bool known =
      stacks->size() > domain->index || inside::attempt([&] { stacks->resize(domain->index + 1); });
  return known ? &(*stacks)[domain->index] : nullptr;
}

/// A range that was started: where, or next_free when it is none.
struct Started {
  Attributes attributes;
  std::uint64_t ticks = 0;
  std::uint32_t round = 1;  // of this place; ids of earlier ranges do not fit
  std::uint32_t next_free = 0;
  bool open = false;
};

constexpr std::uint64_t kShelves = 16;
constexpr unsigned kRoundShift = 32;

struct alignas(64) Shelf {
  Shelf() { inside::Recorder::get().hold_in_fork(lock); }
  inside::HeldInFork lock;
  std::vector<Started> places;
  std::uint32_t free = UINT32_MAX;
};

std::array<Shelf, kShelves>& shelves() {
  return inside::never_freed<std::array<Shelf, kShelves>>();
}

std::uint64_t shelf_of_thread() {
  static std::atomic<std::uint64_t> threads{0};
  static __thread std::uint64_t mine = 0;
  if (mine == 0) mine = ++threads;
  return mine % kShelves;
}

}  // namespace

int push(const Domain* domain, const Attributes& attributes) noexcept {
  constexpr int kNoStack = -1;
  Stack* const stack = stack_of(domain);
  if (stack == nullptr) return kNoStack;
  const int depth = static_cast<int>(stack->begins.size() + stack->beyond);
  if (stack->beyond > 0 || !inside::attempt([&] { stack->begins.push_back(0); })) {
    ++stack->beyond;
  } else if (detail::recording()) {
    stack->begins.back() =
        inside::note_begin(attributes.name, attributes.details, attributes.payload);
  }
  return depth;
}

int pop(const Domain* domain) noexcept {
  constexpr int kNothingToPop = -2;
  Stack* const stack = stack_of(domain);
  if (stack == nullptr || (stack->begins.empty() && stack->beyond == 0)) return kNothingToPop;
  if (stack->beyond > 0) {
    --stack->beyond;
  } else {
    const std::uint64_t begin = stack->begins.back();
    if (begin != 0) detail::end(begin);
    stack->begins.pop_back();
  }
  return static_cast<int>(stack->begins.size() + stack->beyond);
}

std::uint64_t start(const Attributes& attributes) noexcept {
  const std::uint64_t number = shelf_of_thread();
  Shelf& shelf = shelves()[number];
  const std::lock_guard lock(shelf.lock.mutex);
  std::uint32_t at = shelf.free;
  if (at == UINT32_MAX) {
    at = static_cast<std::uint32_t>(shelf.places.size());
    if (!inside::attempt([&] { shelf.places.emplace_back(); })) return 0;
  } else {
    shelf.free = shelf.places[at].next_free;
  }
  Started& range = shelf.places[at];
  range.attributes = attributes;
  range.open = true;
  const bool recorded = detail::recording() && detail::room(1) != nullptr;
  const std::uint32_t mode = detail::mode.load(std::memory_order_relaxed);
  const bool opens = recorded && (mode & detail::kWatching) != 0 &&
                     inside::Recorder::get().range_begins(attributes.name);
  range.ticks = recorded ? detail::ticks() | (opens ? detail::kOpener : 0) : 0;
  return std::uint64_t{range.round} << kRoundShift | (at * kShelves + number);
}

void end(std::uint64_t id) noexcept {
  const std::uint64_t place = id & UINT32_MAX;
  Shelf& shelf = shelves()[place % kShelves];
  inside::Span span;
  {
    const std::lock_guard lock(shelf.lock.mutex);
    const std::uint64_t at = place / kShelves;
    if (at >= shelf.places.size()) return;
    Started& range = shelf.places[at];
    if (!range.open || range.round != id >> kRoundShift) return;
    span = {range.ticks,
            0,
            range.attributes.name,
            "range",
            -1,
            range.attributes.details,
            range.attributes.payload};
    range.open = false;
    ++range.round;
    range.next_free = shelf.free;
    shelf.free = static_cast<std::uint32_t>(at);
  }
  if (span.start == 0) return;
  const bool opened = (span.start & detail::kOpener) != 0;
  span.start &= ~detail::kOpener;
  span.end = detail::ticks();
  inside::note(span);
  if (opened) detail::end_watched();
}

}  // namespace fathom::nvtx
