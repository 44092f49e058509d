// Finds the Python stack of each operator.
// A backward operator takes the stack of the forward operator that made its node.
#include "analysis/operators/op_stacks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/structure/forward_ops.h"

namespace fathom {
namespace {

// torch/autograd/profiler_util.py, _filter_stack_entry(): an entry that contains both is hidden.
constexpr auto kHidden = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"autograd/__init__", "_make_grads"},
    {"autograd/__init__", "backward"},
    {"torch/tensor", "backward"},
    {"_internal/common_utils", "prof_callable"},
    {"_internal/common_utils", "prof_func_call"},
    {"_internal/common_utils", "prof_meth_call"},
});

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

StringId stack_of(const Trace& trace, SliceId slice) {
  const std::uint32_t detail = trace.slices.detail[slice.row()];
  const SliceKind kind = trace.kind(slice);
  const bool has_ops = kind == SliceKind::cpu_op || kind == SliceKind::user_annotation;
  return has_ops && detail != SliceId::kNone ? trace.ops.stack[detail] : StringId();
}

/// Slices by (start, -end), then file order: the order in which torch sees them.
std::vector<SliceId> counted_in_order(const Trace& trace, const Nesting& nesting,
                                      const TorchForest& forest) {
  std::vector<SliceId> out;
  for (const auto* threads : {&nesting.work, &nesting.rest}) {
    for (const Nesting::Thread& thread : *threads) {
      std::ranges::copy_if(thread.slices, std::back_inserter(out),
                           [&](SliceId slice) { return forest.is_counted(slice); });
    }
  }
  std::ranges::sort(out, {}, [&](SliceId slice) {
    return std::tuple(trace.slices.start[slice.row()], -trace.slices.duration[slice.row()], slice);
  });
  return out;
}

/// Per slice: the nearest event at or above it that is a node of the backward graph, which is the
/// event X directly under "autograd::engine::evaluate_function: X".
Column<SliceId> backward_nodes(const Trace& trace, const std::vector<SliceId>& events,
                               const TorchForest& forest, const TorchNames& names) {
  const auto text = [&](SliceId slice) {
    return names.text(names[trace.slices.name[slice.row()]].canonical);
  };
  Column<SliceId> nodes;
  nodes.resize(trace.slices.size());
  std::ranges::fill(nodes.mutable_span(), SliceId());
  for (const SliceId slice : events) {
    const SliceId parent = forest.parent(slice);
    if (!parent.valid()) continue;
    const std::string_view above = text(parent);
    const bool node = above.starts_with(kEvaluate) && above.substr(kEvaluate.size()) == text(slice);
    nodes[slice.row()] = node ? slice : nodes[parent.row()];
  }
  return nodes;
}

}  // namespace

Column<StringId> torch_stacks(const Trace& trace, const Nesting& nesting, const TorchForest& forest,
                              const TorchNames& names) {
  const std::vector<SliceId> events = counted_in_order(trace, nesting, forest);
  const Column<SliceId> nodes = backward_nodes(trace, events, forest, names);
  const std::map<std::int64_t, TrackId> threads = torch_threads(trace);
  Column<StringId> stacks;
  stacks.resize(trace.slices.size());
  std::ranges::fill(stacks.mutable_span(), StringId());
  std::map<std::pair<std::int64_t, TrackId>, StringId> forward;  // sequence (-1: none) and thread
  const auto sequence_or_none = [&](SliceId slice) {
    const std::int64_t sequence = sequence_of(trace, slice).sequence;
    return sequence == kAbsent ? -1 : sequence;
  };
  for (const SliceId slice : events) {
    if (nodes[slice.row()].valid()) continue;
    stacks[slice.row()] = stack_of(trace, slice);
    forward.try_emplace({sequence_or_none(slice), trace.slices.track[slice.row()]},
                        stacks[slice.row()]);
  }
  for (const SliceId slice : events) {
    const SliceId node = nodes[slice.row()];
    if (!node.valid()) continue;
    const auto thread = threads.find(sequence_of(trace, node).forward_thread);
    if (thread == threads.end()) continue;
    const auto stack = forward.find({sequence_or_none(node), thread->second});
    if (stack != forward.end()) stacks[slice.row()] = stack->second;
  }
  return stacks;
}

std::string top_of_stack(std::string_view text, int depth) {
  std::string out;
  while (!text.empty() && depth > 0) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool hidden = std::ranges::any_of(kHidden, [&](const auto& words) {
      return entry.find(words.first) != std::string_view::npos &&
             entry.find(words.second) != std::string_view::npos;
    });
    if (entry.empty() || hidden) continue;
    if (!out.empty()) out += ";";
    out += entry;
    --depth;
  }
  return out;
}

}  // namespace fathom
