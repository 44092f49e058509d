// Infers forward and optimizer from the order of calls in a step.
#include "analysis/structure/phases_inferred.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/structure/step_marks.h"

namespace fathom {
namespace {

constexpr std::size_t kFewestGradients = 2;
constexpr std::size_t kMostUpdatesPerGradient = 8;

// What optimizers written by hand do between their updates in place.
constexpr auto kElementwise = std::to_array<std::string_view>(
    {"aten::add",        "aten::sub",    "aten::mul",        "aten::div",     "aten::neg",
     "aten::pow",        "aten::sqrt",   "aten::rsqrt",      "aten::square",  "aten::sign",
     "aten::lerp",       "aten::clamp",  "aten::maximum",    "aten::addcmul", "aten::addcdiv",
     "aten::reciprocal", "aten::detach", "aten::zeros_like", "aten::to",      "aten::fill",
     "aten::zero",       "aten::copy",   "aten::rsub"});
// Of these, updates of a parameter or of what is kept of its gradients.
constexpr auto kUpdates = std::to_array<std::string_view>(
    {"aten::add_", "aten::sub_", "aten::mul_", "aten::div_", "aten::lerp_", "aten::addcmul_",
     "aten::addcdiv_", "aten::copy_"});

bool is_update(std::string_view name) {
  return std::ranges::find(kUpdates, name) != kUpdates.end();
}

bool is_elementwise(std::string_view name) {
  if (name.starts_with("aten::_foreach_")) return true;
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::ranges::find(kElementwise, name) != kElementwise.end();
}

bool accumulates(std::string_view name) {
  return name == "torch::autograd::AccumulateGrad" ||
         name.ends_with("evaluate_function: torch::autograd::AccumulateGrad");
}

/// The backward pass of one process: outermost operators of every thread, by start.
struct Backward {
  std::vector<Interval> operators;
  std::vector<Time> gradients;  // When each was accumulated, ascending.
};

/// An outermost operator of the main thread.
struct Op {
  SliceId slice;
  Interval interval;
};

class Inference {
 public:
  Inference(const Trace& trace, const Nesting& nesting, StringId process, Phases& phases)
      : trace_(trace), nesting_(nesting), phases_(phases) {
    std::size_t most = 0;
    for (const Nesting::Thread& thread : nesting.work) {
      const bool other = trace.tracks[thread.track.row()].process != process;
      if (process.valid() && other) continue;  // Steps of a whole trace have no process.
      const std::size_t others = add_backward(thread);
      if (others <= most) continue;
      most = others;
      main_ = &thread;
    }
    std::ranges::sort(backward_.operators, {}, &Interval::begin);
    std::ranges::sort(backward_.gradients);
    if (main_ != nullptr && !backward_.operators.empty()) add_operators();
  }

  /// `step`: from its begin to that of the next.
  void infer(const Interval& step, bool forward, bool optimizer) {
    const auto first =
        std::ranges::lower_bound(backward_.operators, step.begin, {}, &Interval::begin);
    const auto end =
        std::ranges::lower_bound(first, backward_.operators.end(), step.end, {}, &Interval::begin);
    if (first == end) return;
    if (forward) mark_forward({step.begin, first->begin});
    if (!optimizer) return;
    Time last = first->end;
    for (auto at = first; at != end; ++at) last = std::max(last, at->end);
    const auto gradients =
        static_cast<std::size_t>(std::ranges::lower_bound(backward_.gradients, step.end) -
                                 std::ranges::lower_bound(backward_.gradients, step.begin));
    mark_optimizer({last, step.end}, gradients);
  }

 private:
  /// How many operators of the thread are none of it.
  std::size_t add_backward(const Nesting::Thread& thread) {
    std::size_t others = 0;
    for (const SliceId slice : thread.slices) {
      if (trace_.kind(slice) == SliceKind::cpu_op && accumulates(trace_.name(slice)) &&
          !inside_accumulation(slice))
        backward_.gradients.push_back(trace_.slices.start[slice.row()]);
      if (phases_[slice] != Phase::backward) {
        others += trace_.kind(slice) == SliceKind::cpu_op ? 1 : 0;
        continue;
      }
      const SliceId parent = nesting_.parent[slice.row()];
      if (parent.valid() && phases_[parent] == Phase::backward) continue;
      backward_.operators.push_back({trace_.slices.start[slice.row()], trace_.slices.end(slice)});
    }
    return others;
  }

  /// One accumulation has two slices, one in the other.
  [[nodiscard]] bool inside_accumulation(SliceId slice) const {
    const SliceId parent = nesting_.parent[slice.row()];
    return parent.valid() && accumulates(trace_.name(parent));
  }

  /// Outermost operators without a phase, or with one that is only loosely said. Older recorders
  /// write ranges as operators: their names have no namespace.
  void add_operators() {
    Time covered = Time::min();
    for (const SliceId slice : main_->slices) {
      const Interval interval{trace_.slices.start[slice.row()], trace_.slices.end(slice)};
      if (interval.begin < covered || trace_.kind(slice) != SliceKind::cpu_op) continue;
      const Phase phase = phases_[slice];
      if (phase != Phase::other && phase != Phase::forward) continue;
      if (trace_.name(slice).find("::") == std::string_view::npos) continue;
      covered = interval.end;
      operators_.push_back({slice, interval});
    }
  }

  [[nodiscard]] std::span<const Op> operators_in(const Interval& stretch) const {
    const auto begin = [](const Op& op) { return op.interval.begin; };
    const auto first = std::ranges::lower_bound(operators_, stretch.begin, {}, begin);
    const auto end = std::ranges::lower_bound(first, operators_.end(), stretch.end, {}, begin);
    return {first, end};
  }

  void mark_forward(const Interval& stretch) {
    for (const Op& op : operators_in(stretch)) {
      if (phases_[op.slice] != Phase::other || trace_.name(op.slice) == "aten::zero_") continue;
      mark(op.interval, Phase::forward);
      ++phases_.evidence[static_cast<std::size_t>(PhaseEvidence::call_order)];
    }
  }

  void mark_optimizer(const Interval& stretch, std::size_t gradients) {
    if (gradients < kFewestGradients) return;
    std::span<const Op> longest;
    const std::span<const Op> all = operators_in(stretch);
    for (std::size_t first = 0; first < all.size(); ++first) {
      std::size_t end = first;
      while (end < all.size() && is_elementwise(trace_.name(all[end].slice))) ++end;
      if (end - first > longest.size()) longest = all.subspan(first, end - first);
      first = end;
    }
    const auto updates = static_cast<std::size_t>(std::ranges::count_if(
        longest, [&](const Op& op) { return is_update(trace_.name(op.slice)); }));
    if (updates < gradients || updates > kMostUpdatesPerGradient * gradients) return;
    mark({longest.front().interval.begin, longest.back().interval.end}, Phase::optimizer);
    phases_.evidence[static_cast<std::size_t>(PhaseEvidence::updates)] += longest.size();
  }

  /// Everything of the main thread that starts in the stretch and has no firm phase.
  void mark(const Interval& stretch, Phase phase) {
    const std::vector<SliceId>& slices = main_->slices;
    auto at = std::ranges::lower_bound(slices, stretch.begin, {},
                                       [&](SliceId id) { return trace_.slices.start[id.row()]; });
    for (; at != slices.end() && trace_.slices.start[at->row()] < stretch.end; ++at) {
      Phase& own = phases_.of[at->row()];
      if (trace_.slices.end(*at) > stretch.end) continue;  // A range around it.
      if (own == Phase::other || (own == Phase::forward && phase == Phase::optimizer)) own = phase;
    }
  }

  const Trace& trace_;
  const Nesting& nesting_;
  Phases& phases_;
  Backward backward_;
  const Nesting::Thread* main_ = nullptr;
  std::vector<Op> operators_;
};

/// Is an optimizer's step annotated? Setting gradients to zero is none.
bool has_optimizer(const Trace& trace, const Nesting& nesting, const Phases& phases) {
  const std::span<const Phase> all = phases.of.span();
  for (auto at = all.begin();; ++at) {
    at = std::find(at, all.end(), Phase::optimizer);
    if (at == all.end()) return false;
    const SliceId slice(static_cast<std::size_t>(at - all.begin()));
    const SliceId parent = nesting.parent[slice.row()];
    const bool outermost = !parent.valid() || phases[parent] != Phase::optimizer;
    if (outermost && !trace.name(slice).starts_with("Optimizer.zero_grad")) return true;
  }
}

bool has_backward(const Phases& phases) {
  const std::span<const Phase> all = phases.of.span();
  return std::find(all.begin(), all.end(), Phase::backward) != all.end();
}

}  // namespace

void infer_phases(const Trace& trace, const Nesting& nesting, Phases& phases) {
  const bool forward =
      phases.evidence[static_cast<std::size_t>(PhaseEvidence::sequence_numbers)] == 0;
  const bool optimizer = !has_optimizer(trace, nesting, phases);
  if ((!forward && !optimizer) || !has_backward(phases)) return;
  const StepMarks marks = find_step_marks(trace);
  for (std::size_t i = 0; i < marks.steps.size();) {
    const StringId id = marks.steps[i].process;
    Inference process(trace, nesting, id, phases);
    for (; i < marks.steps.size() && marks.steps[i].process == id; ++i) {
      const bool last = i + 1 == marks.steps.size() || marks.steps[i + 1].process != id;
      const Time end = last ? marks.steps[i].host.end : marks.steps[i + 1].host.begin;
      process.infer({marks.steps[i].host.begin, end}, forward, optimizer);
    }
  }
}

}  // namespace fathom
