// Tells ranges from operators by their names and by what lies in them.
#include "analysis/structure/program_ranges.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "store/profiler_step.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 3> kAnnotations = {kProfilerStep, "Optimizer.",
                                                          "enumerate("};

/// What the operators of a name have in common.
struct NameUse {
  bool seen = false;
  bool holds = false;        ///< One of them holds operators.
  bool is_operator = false;  ///< Its name, its arguments, or being inside an operator shows one.
};

bool has_arguments(const Trace& trace, SliceId op) {
  const std::uint32_t detail = trace.slices.detail[op.row()];
  if (detail == SliceId::kNone) return false;
  return trace.ops.sequence[detail] != kAbsent || trace.ops.signature[detail].valid();
}

}  // namespace

bool is_named_annotation(std::string_view name) {
  return std::ranges::any_of(kAnnotations,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<bool> ranges_among_operators(const Trace& trace, const Nesting& nesting) {
  const Column<SliceId>& parent = nesting.parent;
  std::vector<NameUse> uses(trace.strings.size());
  const auto use_of = [&](SliceId op) -> NameUse& {
    NameUse& use = uses[trace.slices.name[op.row()].row()];
    if (use.seen) return use;
    const std::string_view name = trace.name(op);
    use = {.seen = true,
           .holds = false,
           .is_operator = name.find("::") != name.npos || is_named_annotation(name)};
    return use;
  };
  std::vector<bool> ranges;
  bool qualified = false;
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) {
      const SliceKind kind = trace.kind(slice);
      if (kind == SliceKind::user_annotation) return ranges;
      if (kind != SliceKind::cpu_op) continue;
      NameUse& use = use_of(slice);
      const SliceId around = parent[slice.row()];
      const bool inside = around.valid() && trace.kind(around) == SliceKind::cpu_op;
      if (inside) use_of(around).holds = true;
      if (trace.name(slice).find("::") != std::string_view::npos) qualified = true;
      if (use.is_operator) continue;
      // Parents come first: what they are is known but for later ones of the same name.
      const bool in_operator =
          inside && use_of(around).is_operator && !is_named_annotation(trace.name(around));
      use.is_operator = in_operator || has_arguments(trace, slice);
    }
  }
  if (!qualified) return ranges;
  ranges.resize(trace.strings.size());
  for (std::size_t name = 0; name < uses.size(); ++name)
    ranges[name] = uses[name].seen && uses[name].holds && !uses[name].is_operator;
  return ranges;
}

}  // namespace fathom
