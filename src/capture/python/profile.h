// Profile: the calls of one thread, summed up by function and by caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/call_log.h"
#include "capture/python/memory_limit.h"
#include "capture/python/ticks.h"

namespace fathom::python {

struct Edge;

/// A function as this thread called it. Times are in ticks, and count since the last part of the
/// run ended; what was folded then is in nanoseconds.
struct Function {
  const void* key = nullptr;    ///< The code object, or the definition of a function of C.
  void* label = nullptr;        ///< What it is called: an object of Python that is kept.
  Edge* latest = nullptr;       ///< What it called last.
  std::uint64_t recursive = 0;  ///< Calls while it was open further out.
  std::int64_t total = 0;       ///< From call to return, of the outermost of a recursion.
  std::uint32_t depth = 0;      ///< How often it is open.
  Function* next = nullptr;     ///< In the same slot of the table of functions.
  std::uint64_t folded_recursive = 0;
  std::int64_t folded_total = 0;
  std::uint64_t part_calls = 0;  ///< Only while a part is folded.
  std::int64_t part_self = 0;
};

/// The calls of a function by one caller.
struct Edge {
  const void* key = nullptr;  ///< Of the callee.
  Function* caller = nullptr;
  Function* callee = nullptr;
  std::uint64_t calls = 0;
  std::uint64_t recursive = 0;  ///< While this caller had called it further out.
  std::int64_t self = 0;        ///< Without what it called.
  std::int64_t total = 0;       ///< Of the outermost.
  std::uint32_t depth = 0;
  std::uint64_t folded_calls = 0;
  std::uint64_t folded_recursive = 0;
  std::int64_t folded_self = 0;
  std::int64_t folded_total = 0;
};

/// What a function took in a part of the run; times in ns.
struct FunctionPart {
  const void* label = nullptr;
  std::uint64_t calls = 0;
  std::int64_t self = 0;
  std::int64_t total = 0;
};

/// What a profile asks when it meets a function: its label, null where there is no memory.
using Labeller = void* (*)(const void* key, void* about);

/// Functions that are open, and what was called how often and for how long. Nothing throws; where
/// there is no memory, calls count for `lost()`. Used by one thread at a time.
class Profile {
 public:
  /// A function begins, or goes on.
  void enter(const void* key, void* about, Labeller labeller, std::uint64_t now);
  /// It ends, or rests. What was open inside it ends too: nothing told of that.
  void leave(const void* key, std::uint64_t now) {
    if (unpushed_ > 0) {
      --unpushed_;
      return;
    }
    if (depth_ == 0) return;  // it began before the recording
    const Edge& top = *stack_[depth_ - 1].edge;
    if (top.key != key && top.callee != &lost_ && !unwind_to(key, now)) return;
    pop(now);
  }

  /// Calls that took long, one by one.
  [[nodiscard]] CallLog& calls() { return calls_; }
  /// Puts what is open among them, as open.
  void log_open(std::uint64_t now);

  /// Times up to now are in the sums, of what is open too.
  void settle(std::uint64_t now);
  /// A part of the run ends: calls on_part(FunctionPart) for each function that took anything in
  /// it. What is folded is the sum of all parts, to the nanosecond.
  template <typename OnPart>
  void fold(std::uint64_t now, double ns_per_tick, OnPart on_part);
  /// All sums are 0; what is open stays open, and its time counts from now.
  void clear(std::uint64_t now);
  /// What is folded is 0, as are losses; the part of the run that has not ended stays.
  void forget_folded();
  /// The thread is gone, and another one goes on with the sums.
  void abandon();

  /// Visits each edge and then each function that was called.
  template <typename OnEdge, typename OnFunction>
  void visit(OnEdge on_edge, OnFunction on_function) {
    for (std::size_t slot = 0; slot < slots_; ++slot)
      if (edges_[slot] != nullptr) on_edge(*edges_[slot]);
    const bool lost = lost_edge_.calls + lost_edge_.folded_calls > 0;
    if (lost) on_edge(lost_edge_);
    for (Function* head : functions_)
      for (Function* each = head; each != nullptr; each = each->next) on_function(*each);
    if (lost) on_function(lost_);
  }
  [[nodiscard]] bool is_root(const Function& function) const { return &function == &root_; }
  /// Stands for the functions that memory did not suffice for; it has no label.
  [[nodiscard]] const Function& lost() const { return lost_; }
  /// Calls that memory did not suffice for; without those of the part that has not ended, which
  /// stay when the others are forgotten.
  [[nodiscard]] std::uint64_t folded_lost_calls() const {
    return lost_edge_.folded_calls + unrecorded_;
  }
  [[nodiscard]] std::uint64_t lost_calls() const { return lost_edge_.calls + folded_lost_calls(); }
  /// Ends of calls that are not open, as where threads of control are switched (greenlets).
  [[nodiscard]] std::uint64_t unmatched() const { return unmatched_; }

 private:
  struct Frame {
    Edge* edge = nullptr;
    std::uint64_t begin = 0;  ///< Of what is not in the sums yet.
    std::uint64_t entered = 0;
    std::int64_t callees = 0;
    bool outer_edge = false;
    bool outer_function = false;
  };
  static constexpr std::size_t kChunk = 128;
  static constexpr std::size_t kHeads = 1024;
  template <typename T>
  struct Pool {
    T* chunk = nullptr;
    std::size_t used = kChunk;
    T* make();
  };

  static std::size_t hash_of(const void* caller, const void* key) {
    const auto mixed = (reinterpret_cast<std::uintptr_t>(caller) >> 4U) ^
                       (reinterpret_cast<std::uintptr_t>(key) * std::uintptr_t{0x9e3779b97f4a7c15});
    return static_cast<std::size_t>(mixed ^ (mixed >> 29U));
  }
  Edge* find(Function* caller, const void* key) {
    if (slots_ == 0) return nullptr;
    for (std::size_t at = hash_of(caller, key) & (slots_ - 1);; at = (at + 1) & (slots_ - 1)) {
      Edge* const edge = edges_[at];
      if (edge == nullptr || (edge->key == key && edge->caller == caller)) return edge;
    }
  }
  Edge* add(Function* caller, const void* key, void* about, Labeller labeller);
  Function* function_of(const void* key, void* about, Labeller labeller);
  bool grow_stack();
  bool grow_table();
  bool unwind_to(const void* key, std::uint64_t now);

  static std::int64_t between(std::uint64_t begin, std::uint64_t end) {
    // Counters of two processors may differ by a few ticks.
    return end > begin ? static_cast<std::int64_t>(end - begin) : 0;
  }
  void pop(std::uint64_t now) {
    const Frame& frame = stack_[--depth_];
    const std::int64_t spent = between(frame.begin, now);
    Edge& edge = *frame.edge;
    edge.self += spent - frame.callees;
    --edge.depth;
    --edge.callee->depth;
    if (frame.outer_edge) edge.total += spent;
    if (frame.outer_function) edge.callee->total += spent;
    if (depth_ > 0) stack_[depth_ - 1].callees += spent;
    if (now > frame.entered && CallLog::takes(now - frame.entered))
      calls_.add(edge.callee->label, frame.entered, now);
  }

  Frame* stack_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t room_ = 0;
  std::size_t unpushed_ = 0;  // open beyond the room of the stack

  Edge** edges_ = nullptr;
  std::size_t slots_ = 0;  // a power of two
  std::size_t used_ = 0;
  Function* functions_[kHeads] = {};
  Pool<Edge> edge_pool_;
  Pool<Function> function_pool_;

  Function root_;
  Function lost_;
  Edge lost_edge_{nullptr, &root_, &lost_};
  std::uint64_t unrecorded_ = 0;
  std::uint64_t unmatched_ = 0;
  CallLog calls_;
};

inline void Profile::enter(const void* key, void* about, Labeller labeller, std::uint64_t now) {
  Function* const caller = depth_ == 0 ? &root_ : stack_[depth_ - 1].edge->callee;
  Edge* edge = caller->latest;
  if (edge == nullptr || edge->key != key) {
    edge = find(caller, key);
    if (edge == nullptr) edge = add(caller, key, about, labeller);
    caller->latest = edge;
  }
  if (unpushed_ > 0 || (depth_ == room_ && !grow_stack())) {
    ++unpushed_;
    ++unrecorded_;
    return;
  }
  Function& callee = *edge->callee;
  ++edge->calls;
  const bool inner_edge = edge->depth++ > 0;
  const bool inner_function = callee.depth++ > 0;
  edge->recursive += static_cast<std::uint64_t>(inner_edge);
  callee.recursive += static_cast<std::uint64_t>(inner_function);
  stack_[depth_++] = {edge, now, now, 0, !inner_edge, !inner_function};
}

template <typename OnPart>
void Profile::fold(std::uint64_t now, double ns_per_tick, OnPart on_part) {
  settle(now);
  visit(
      [ns_per_tick](Edge& edge) {
        const std::int64_t self = take_ns(edge.self, ns_per_tick);
        edge.callee->part_calls += edge.calls;
        edge.callee->part_self += self;
        edge.folded_calls += edge.calls;
        edge.folded_recursive += edge.recursive;
        edge.folded_self += self;
        edge.folded_total += take_ns(edge.total, ns_per_tick);
        edge.calls = edge.recursive = 0;
      },
      [ns_per_tick, &on_part](Function& function) {
        const std::int64_t total = take_ns(function.total, ns_per_tick);
        function.folded_recursive += function.recursive;
        function.folded_total += total;
        function.recursive = 0;
        if (function.part_calls > 0 || function.part_self > 0 || total > 0)
          on_part(FunctionPart{function.label, function.part_calls, function.part_self, total});
        function.part_calls = 0;
        function.part_self = 0;
      });
}

}  // namespace fathom::python
