// The rare cases of a profile: functions that are new, tables that grow, ends out of order.
#include "capture/python/profile.h"

#include <cstdlib>
#include <new>

#include "capture/python/frames.h"

namespace fathom::python {

template <typename T>
T* Profile::Pool<T>::make() {
  if (used == kChunk) {
    if (!MemoryLimit::take(kChunk * sizeof(T))) return nullptr;
    auto* const made = static_cast<T*>(std::calloc(kChunk, sizeof(T)));
    if (made == nullptr) return nullptr;
    chunk = made;
    used = 0;
  }
  return new (&chunk[used++]) T;
}

Function* Profile::function_of(const void* key, void* about, Labeller labeller) {
  Function*& head = functions_[hash_of(nullptr, key) % kHeads];
  for (Function* each = head; each != nullptr; each = each->next)
    if (each->key == key) return each;
  Function* const made = function_pool_.make();
  if (made == nullptr) return nullptr;
  made->label = labeller(key, about);
  if (made->label == nullptr) {
    --function_pool_.used;
    return nullptr;
  }
  made->key = key;
  made->next = head;
  head = made;
  return made;
}

Edge* Profile::add(Function* caller, const void* key, void* about, Labeller labeller) {
  Function* const callee = function_of(key, about, labeller);
  if (callee == nullptr) return &lost_edge_;
  // At most half full, so that every search ends.
  if ((used_ + 1) * 2 > slots_ && !grow_table()) return &lost_edge_;
  Edge* const edge = edge_pool_.make();
  if (edge == nullptr) return &lost_edge_;
  edge->key = key;
  edge->caller = caller;
  edge->callee = callee;
  std::size_t at = hash_of(caller, key) & (slots_ - 1);
  while (edges_[at] != nullptr) at = (at + 1) & (slots_ - 1);
  edges_[at] = edge;
  ++used_;
  return edge;
}

bool Profile::grow_table() {
  constexpr std::size_t kFirst = 256;
  const std::size_t slots = slots_ == 0 ? kFirst : slots_ * 2;
  if (!MemoryLimit::take((slots - slots_) * sizeof(void*))) return false;
  auto** const made = static_cast<Edge**>(std::calloc(slots, sizeof(void*)));
  if (made == nullptr) return false;
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    Edge* const edge = edges_[slot];
    if (edge == nullptr) continue;
    std::size_t at = hash_of(edge->caller, edge->key) & (slots - 1);
    while (made[at] != nullptr) at = (at + 1) & (slots - 1);
    made[at] = edge;
  }
  std::free(edges_);
  edges_ = made;
  slots_ = slots;
  return true;
}

bool Profile::grow_stack() {
  constexpr std::size_t kFirst = 128;
  return grow_frames(stack_, room_, kFirst);
}

bool Profile::unwind_to(const void* key, std::uint64_t now) {
  const std::size_t depth =
      depth_of_call(depth_, [this, key](std::size_t at) { return stack_[at].edge->key == key; });
  if (depth == 0) {
    ++unmatched_;
    return false;
  }
  for (; depth_ > depth; pop(now)) ++unmatched_;
  return true;
}

void Profile::log_open(std::uint64_t now) {
  for (std::size_t at = depth_; at > 0; --at) {
    const Frame& frame = stack_[at - 1];
    if (now > frame.entered && CallLog::takes(now - frame.entered))
      calls_.add(frame.edge->callee->label, frame.entered, now, true);
  }
}

void Profile::settle(std::uint64_t now) {
  for (std::size_t at = 0; at < depth_; ++at) {
    Frame& frame = stack_[at];
    const std::int64_t spent = between(frame.begin, now);
    const std::int64_t inside =
        at + 1 < depth_ ? between(stack_[at + 1].begin, now) : std::int64_t{0};
    frame.edge->self += spent - frame.callees - inside;
    if (frame.outer_edge) frame.edge->total += spent;
    if (frame.outer_function) frame.edge->callee->total += spent;
  }
  for (std::size_t at = 0; at < depth_; ++at) {
    stack_[at].begin = now;
    stack_[at].callees = 0;
  }
}

void Profile::forget_folded() {
  visit(
      [](Edge& edge) {
        edge.folded_calls = edge.folded_recursive = 0;
        edge.folded_self = edge.folded_total = 0;
      },
      [](Function& function) {
        function.folded_recursive = 0;
        function.folded_total = 0;
      });
  unrecorded_ = unmatched_ = 0;
}

void Profile::clear(std::uint64_t now) {
  forget_folded();
  const auto clear_edge = [](Edge& edge) {
    edge.calls = edge.recursive = 0;
    edge.self = edge.total = 0;
  };
  const auto clear_function = [](Function& function) {
    function.recursive = 0;
    function.total = 0;
  };
  for (std::size_t slot = 0; slot < slots_; ++slot)
    if (edges_[slot] != nullptr) clear_edge(*edges_[slot]);
  clear_edge(lost_edge_);
  for (Function* head : functions_) {
    for (Function* each = head; each != nullptr; each = each->next) clear_function(*each);
  }
  clear_function(lost_);
  for (std::size_t at = 0; at < depth_; ++at) {
    stack_[at].begin = stack_[at].entered = now;
    stack_[at].callees = 0;
  }
}

void Profile::abandon() {
  while (depth_ > 0) {
    const Frame& frame = stack_[--depth_];
    --frame.edge->depth;
    --frame.edge->callee->depth;
  }
  unpushed_ = 0;
}

}  // namespace fathom::python
