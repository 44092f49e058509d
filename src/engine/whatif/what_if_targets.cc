// Finds the slices that a target of fathom whatif names.
#include "engine/whatif/what_if_targets.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/query/name_pattern.h"
#include "engine/query/nearest_name.h"

namespace fathom {
namespace {

bool is_anything(SliceKind /*kind*/) { return true; }
bool is_operator(SliceKind kind) { return kind == SliceKind::cpu_op; }

/// Operators, and the runtime's calls: an allocation, say.
bool is_work(SliceKind kind) { return kind == SliceKind::cpu_op || is_runtime_call(kind); }

/// Host slices for which `matches` holds, and all inside them; in the order of their threads.
template <typename Matches>
std::vector<bool> trees(const Context& context, const Matches& matches) {
  std::vector<bool> inside(context.trace.slices.size());
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const SliceId parent = context.nesting().parent[slice.row()];
      inside[slice.row()] = (parent.valid() && inside[parent.row()]) || matches(slice);
    }
  }
  return inside;
}

/// The slices that are marked, and what the calls among them launched.
Targets with_launched(const Context& context, const std::vector<bool>& marked) {
  Targets targets;
  for (const Nesting::Thread& thread : context.nesting().work) {
    std::ranges::copy_if(thread.slices, std::back_inserter(targets.host),
                         [&marked](SliceId slice) { return marked[slice.row()]; });
  }
  const Links& links = context.links();
  for (const SliceId activity : links.activities) {
    const SliceId launch = links.launch[activity.row()];
    if (launch.valid() && marked[launch.row()]) targets.activities.push_back(activity);
  }
  return targets;
}

Targets of_names(const Context& context, const std::vector<bool>& names,
                 bool (*is_meant)(SliceKind)) {
  const Trace& trace = context.trace;
  return with_launched(context, trees(context, [&](SliceId slice) {
                         return names[trace.slices.name[slice.row()].row()] &&
                                is_meant(trace.kind(slice));
                       }));
}

Targets of_kernels(const Context& context, const std::vector<bool>& names) {
  Targets targets;
  for (const SliceId activity : context.links().activities) {
    if (names[context.trace.slices.name[activity.row()].row()])
      targets.activities.push_back(activity);
  }
  return targets;
}

Result<Targets> of_phase(const Context& context, std::string_view name) {
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (to_string(phase) != name) continue;
    std::vector<bool> marked(context.trace.slices.size());
    for (const Nesting::Thread& thread : context.nesting().work) {
      for (const SliceId slice : thread.slices)
        marked[slice.row()] = context.phases()[slice] == phase;
    }
    return with_launched(context, marked);
  }
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(name) +
                   "' is no phase; phases are forward, backward, optimizer, data, communication "
                   "and other"};
}

/// "kernel:gemm" in its parts; the kind of a plain name is empty.
struct Target {
  std::string_view kind;
  std::string_view rest;
};

Target parse_target(std::string_view target) {
  const std::size_t colon = target.find(':');
  // Operators are called "aten::mm": two colons are part of a name.
  if (colon == std::string_view::npos || target.substr(colon, 2) == "::") return {{}, target};
  const std::string_view kind = target.substr(0, colon);
  const bool known = kind == "phase" || kind == "op" || kind == "host" || kind == "kernel";
  return known ? Target{kind, target.substr(colon + 1)} : Target{{}, target};
}

Error nothing_named(const Trace& trace, std::string_view text) {
  const Target target = parse_target(text);
  if (target.kind == "phase") {
    return {ErrorCode::invalid_argument, "nothing in the trace is known to be of the phase " +
                                             std::string(target.rest) +
                                             "; fathom accounting --group-by phase lists phases"};
  }
  const std::string_view meant = nearest_slice_name(trace, target.rest);
  const std::string_view is = target.kind.empty() ? "is called" : "has a name with";
  const std::string_view what = target.kind == "kernel" ? "no device activity of the trace"
                                : target.kind == "op"   ? "no operator of the trace"
                                                        : "nothing in the trace";
  return {ErrorCode::invalid_argument,
          std::string(what) + " " + std::string(is) + " '" + std::string(target.rest) + "'" +
              (meant.empty() ? "; fathom ops and fathom kernels list names"
                             : "; did you mean '" + std::string(meant) + "'?")};
}

Result<Targets> find(const Context& context, std::string_view text) {
  const Target target = parse_target(text);
  if (target.kind == "phase") return of_phase(context, target.rest);
  if (target.kind.empty()) {
    return of_names(context,
                    names_that(context.trace, [&](std::string_view name) { return name == text; }),
                    is_anything);
  }
  const Result<NamePattern> pattern = NamePattern::parse(std::string(target.rest));
  if (!pattern) return pattern.error();
  const std::vector<bool> names =
      names_that(context.trace, [&](std::string_view name) { return pattern->matches(name); });
  if (target.kind == "kernel") return of_kernels(context, names);
  Targets targets = of_names(context, names, target.kind == "host" ? is_work : is_operator);
  if (target.kind == "host") targets.activities.clear();
  return targets;
}

}  // namespace

std::vector<bool> names_that(const Trace& trace,
                             const std::function<bool(std::string_view)>& matches) {
  std::vector<bool> names(trace.strings.size());
  for (std::size_t row = 0; row < names.size(); ++row)
    names[row] = matches(trace.strings.view(StringId(row)));
  return names;
}

Result<Targets> find_targets(const Context& context, std::string_view target) {
  Result<Targets> targets = find(context, target);
  if (targets && targets->size() == 0) return nothing_named(context.trace, target);
  return targets;
}

}  // namespace fathom
