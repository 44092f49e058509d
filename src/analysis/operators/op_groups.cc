// Divides operators by shape, call stack, phase, module, both, or thread.
#include "analysis/operators/op_groups.h"

#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/operators/op_stacks.h"
#include "analysis/util/json_list.h"

namespace fathom {
namespace {

/// Numbers texts in the order in which they come.
class Texts {
 public:
  Texts(OpGroups& groups, std::string nothing) : groups_(groups) { number(std::move(nothing)); }
  std::uint32_t number(std::string text) {
    const auto next = static_cast<std::uint32_t>(groups_.texts.size());
    const auto [at, added] = known_.try_emplace(std::move(text), next);
    if (added) groups_.texts.push_back(at->first);
    return at->second;
  }

 private:
  OpGroups& groups_;
  std::unordered_map<std::string, std::uint32_t> known_;
};

template <typename GroupOf>
void fill(const Nesting& nesting, OpGroups& groups, const GroupOf& group_of) {
  for (const auto* threads : {&nesting.work, &nesting.rest}) {
    for (const Nesting::Thread& thread : *threads) {
      for (const SliceId slice : thread.slices) groups.of[slice.row()] = group_of(slice);
    }
  }
}

SignatureId signature_of(const Trace& trace, SliceId slice) {
  const std::uint32_t detail = trace.slices.detail[slice.row()];
  const SliceKind kind = trace.kind(slice);
  const bool has_ops = kind == SliceKind::cpu_op || kind == SliceKind::user_annotation;
  return has_ops && detail != SliceId::kNone ? trace.ops.signature[detail] : SignatureId();
}

void group_by_shape(const Trace& trace, const Nesting& nesting, OpGroups& groups) {
  Texts texts(groups, "[]");
  std::vector<std::uint32_t> of_signature;
  of_signature.reserve(trace.signatures.size());
  for (const Signature& signature : trace.signatures) {
    of_signature.push_back(texts.number(flat_shapes(trace.text(signature.shapes))));
  }
  fill(nesting, groups, [&](SliceId slice) {
    const SignatureId signature = signature_of(trace, slice);
    return signature.valid() ? of_signature[signature.row()] : 0;
  });
}

void group_by_phase(const Context& context, OpGroups& groups) {
  Texts texts(groups, "");
  std::array<std::uint32_t, kPhases> of_phase{};
  for (std::size_t i = 0; i < kPhases; ++i) {
    of_phase[i] = texts.number(std::string(to_string(static_cast<Phase>(i))));
  }
  const Phases& phases = context.phases();
  fill(context.nesting(), groups,
       [&](SliceId slice) { return of_phase[static_cast<std::size_t>(phases[slice])]; });
}

void group_by_module(const Context& context, OpGroups& groups) {
  Texts texts(groups, "");
  const Modules& modules = context.modules();
  std::vector<std::uint32_t> of_node;
  for (std::uint32_t node = 0; node < modules.nodes.size(); ++node) {
    of_node.push_back(texts.number(modules.path(context.trace, node)));
  }
  fill(context.nesting(), groups, [&](SliceId slice) { return of_node[modules[slice]]; });
}

void group_by_place(const Context& context, OpGroups& groups) {
  Texts texts(groups, "");
  const Modules& modules = context.modules();
  const Phases& phases = context.phases();
  constexpr std::uint32_t kNew = 0;  // the number of "", which no place has
  std::vector<std::array<std::uint32_t, kPhases>> of_node(modules.nodes.size());
  fill(context.nesting(), groups, [&](SliceId slice) {
    const auto phase = static_cast<std::size_t>(phases[slice]);
    std::uint32_t& number = of_node[modules[slice]][phase];
    if (number == kNew) {
      std::string text(to_string(phases[slice]));
      const std::string path = modules.path(context.trace, modules[slice]);
      if (!path.empty()) text += ": " + path;
      number = texts.number(std::move(text));
    }
    return number;
  });
}

std::string thread_text(const Trace& trace, const Track& track) {
  std::string out(trace.text(track.process));
  out += "/";
  out += trace.text(track.thread);
  if (trace.text(track.name).empty()) return out;
  return out + " " + std::string(trace.text(track.name));
}

void group_by_thread(const Trace& trace, const Nesting& nesting, OpGroups& groups) {
  Texts texts(groups, "");
  std::vector<std::uint32_t> of_track;
  for (const Track& track : trace.tracks)
    of_track.push_back(texts.number(thread_text(trace, track)));
  fill(nesting, groups,
       [&](SliceId slice) { return of_track[trace.slices.track[slice.row()].row()]; });
}

void group_by_stack(const Context& context, const TorchForest& forest, const TorchNames& names,
                    OpGroups& groups) {
  constexpr int kUsualDepth = 5;
  const int depth = context.options.stack_depth > 0 ? context.options.stack_depth : kUsualDepth;
  Texts texts(groups, "");
  const Column<StringId> stacks = torch_stacks(context.trace, context.nesting(), forest, names);
  std::unordered_map<std::uint32_t, std::uint32_t> of_text;
  fill(context.nesting(), groups, [&](SliceId slice) {
    const StringId text = stacks[slice.row()];
    const auto [at, added] = of_text.try_emplace(text.value, 0);
    if (added) at->second = texts.number(top_of_stack(context.trace.text(text), depth));
    return at->second;
  });
}

}  // namespace

OpGroups compute_op_groups(const Context& context, const TorchForest& forest,
                           const TorchNames& names, OpGrouping grouping) {
  OpGroups groups;
  if (grouping == OpGrouping::name) {
    groups.texts.emplace_back();
    return groups;
  }
  const Trace& trace = context.trace;
  groups.of.resize(trace.slices.size());
  switch (grouping) {
    case OpGrouping::name:
      break;
    case OpGrouping::shape:
      group_by_shape(trace, context.nesting(), groups);
      break;
    case OpGrouping::stack:
      group_by_stack(context, forest, names, groups);
      break;
    case OpGrouping::phase:
      group_by_phase(context, groups);
      break;
    case OpGrouping::module:
      group_by_module(context, groups);
      break;
    case OpGrouping::place:
      group_by_place(context, groups);
      break;
    case OpGrouping::thread:
      group_by_thread(trace, context.nesting(), groups);
      break;
  }
  return groups;
}

}  // namespace fathom
