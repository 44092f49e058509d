// recompilation: compilers and autotuners run inside the steps, and compiled code is in pieces.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/compilation.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/host_steps.h"
#include "rules/common/main_thread.h"
#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {
namespace recompilation_rule {
namespace {

constexpr std::string_view kDoc =
    "torch.compile traces and compiles a function when it is first called, and again whenever a "
    "guard fails: a new shape, a changed number or attribute, another dtype. Counted is the time "
    "inside what Dynamo, AOTAutograd, Inductor and Triton mark while they compile or autotune "
    "(their ranges, and their functions where Python frames were recorded). Fires when steps after "
    "the first counted one compile, from 1 % of the time; compilation in the first step alone, or "
    "in the only one, is warm-up inside the window and claims nothing. Graph breaks: three or more "
    "different compiled regions run per step on one thread, an optimizer's left out, so that "
    "Python runs between them. Running compiled code, and looking it up, is no compilation. "
    "Sources: PyTorch's torch.compile documentation (recompilation, TORCH_LOGS).";

constexpr double kLeastPercent = 1.0;
constexpr std::size_t kManyRegions = 3;
constexpr std::string_view kRegion = "Torch-Compiled Region: ";

struct Found {
  Compilation work;
  std::set<const Step*> steps;
  Duration time{};
};

Found look(const RuleContext& rules) {
  Found found{.work = compilation_in(rules), .steps = {}};
  for (const SliceId slice : found.work.slices) {
    found.steps.insert(rules.step_at(rules.trace().slices.start[slice.row()]));
  }
  for (const Interval& stretch : found.work.stretches) found.time += rules.counted(stretch);
  return found;
}

/// Frame and version of "…0/7", as torch numbers what it compiles.
std::optional<std::pair<int, int>> compiled_id(std::string_view name) {
  std::string_view text;
  if (name.starts_with(kRegion)) text = name.substr(kRegion.size());
  if (const std::size_t at = name.find("compile_id="); at != name.npos) text = name.substr(at + 11);
  int frame = 0;
  int version = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, frame);
  if (text.empty() || first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return {};
  if (std::from_chars(first.ptr + 1, end, version).ec != std::errc()) return {};
  return std::pair(frame, version);
}

/// "function 0 up to version 7": the most often compiled function the names show.
std::string versions_text(const Trace& trace) {
  std::optional<std::pair<int, int>> most;
  const NameSet ids(trace, [&most](std::string_view name) {
    const auto id = compiled_id(name);
    if (id && (!most || id->second > most->second)) most = id;
    return id.has_value();
  });
  if (!ids.any() || !most) return {};
  return "; torch numbers the compiled code up to " + std::to_string(most->first) + "/" +
         std::to_string(most->second) + " (function/version)";
}

void scale_inside(const RuleContext& rules, const Found& found, Edits& edits) {
  const Trace& trace = rules.trace();
  const auto start_of = [&trace](SliceId at) { return trace.slices.start[at.row()]; };
  for (const SliceId slice : found.work.slices) {
    const TrackId track = trace.slices.track[slice.row()];
    for (const Nesting::Thread& thread : rules.context.nesting().work) {
      if (thread.track != track) continue;
      auto at = std::ranges::lower_bound(thread.slices, start_of(slice), {}, start_of);
      const Time end = trace.slices.end(slice);
      for (; at != thread.slices.end() && start_of(*at) < end; ++at) {
        edits.scale.emplace_back(*at, 0.0F);
      }
    }
  }
}

/// A compilation and what belongs to it: without a device the Python right before and after (guards
/// that fail, code that is installed); at best also what the new code does before its first
/// operator of ATen, for it is called for the first time. At most as long as the compilation on
/// each side.
struct Surroundings {
  Interval likely{};
  Interval best{};
};

Surroundings surroundings_of(const RuleContext& rules, const Interval& stretch) {
  Surroundings around{.likely = stretch, .best = stretch};
  if (rules.device >= 0) return around;
  const Interval reach{stretch.begin - stretch.length(), stretch.end + stretch.length()};
  for (const HostPiece& piece : main_thread_in(rules, {reach.begin, stretch.begin})) {
    const bool last = piece.interval.end >= stretch.begin && piece.bucket == HostBucket::python;
    if (last) around.likely.begin = std::max(reach.begin, piece.interval.begin);
  }
  bool right_after = true;
  for (const HostPiece& piece : main_thread_in(rules, {stretch.end, reach.end})) {
    if (!right_after && piece.bucket == HostBucket::python) break;
    right_after = right_after && piece.bucket == HostBucket::python;
    if (right_after) around.likely.end = std::min(reach.end, piece.interval.end);
    if (!piece.op.valid() || !rules.trace().name(piece.op).starts_with("aten::")) continue;
    around.best.end = piece.interval.begin;
    break;
  }
  around.best = {around.likely.begin, std::max(around.best.end, around.likely.end)};
  return around;
}

Finding make(const RuleContext& rules, const Found& found, bool again) {
  Finding finding;
  finding.key = again ? "steps" : "first-step";
  finding.title = again ? "Code is compiled anew in " + std::to_string(found.steps.size()) +
                              " of " + counted_noun(rules.steps.size(), "step") + ": " +
                              per_step(rules, found.time)
                        : "Compilation is inside the recording: " + per_step(rules, found.time);
  finding.family = again ? Family::host : Family::capture;
  finding.weight = weight_of(rules, found.time, 5, 20);
  finding.confidence = again ? Confidence::high : Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, found.work.slices,
      counted_noun(found.work.slices.size(), "range") + " of compilation or autotuning, " +
          per_step(rules, found.time) + versions_text(rules.trace())));
  if (!again) {
    finding.counter_evidence =
        "It belongs to the first call; the recording does not show whether it comes again.";
    finding.fix = {.text =
                       "Call the compiled function with each shape before recording, or skip "
                       "steps in the schedule; a persistent cache "
                       "(TORCHINDUCTOR_FX_GRAPH_CACHE) shortens later starts.",
                   .before = "with profile() as prof: compiled(x)",
                   .after = "compiled(x)  # compiles\nwith profile() as prof: compiled(x)"};
    finding.verify = "fathom steps TRACE";
    return finding;
  }
  finding.counter_evidence =
      "In a long run compilation stops when every shape was seen, or at the limit of versions "
      "(then the function runs uncompiled).";
  finding.fix = {
      .text =
          "Find what changes: TORCH_LOGS=recompiles names the guard that fails. For shapes: "
          "mark the dimension dynamic, or pad to a few lengths; for numbers: tensors instead "
          "of Python numbers; for autotuning: keep its cache, or fix the configuration. "
          "Caveat: code for dynamic shapes can be slower than for fixed ones.",
      .before = "model = torch.compile(model)",
      .after =
          "model = torch.compile(model, dynamic=True)\n"
          "# or: torch._dynamo.mark_dynamic(x, 0)"};
  finding.verify = "fathom ops TRACE --filter 'name~compile'";
  std::vector<Interval> likely;
  std::vector<Interval> best;
  for (const Interval& stretch : found.work.stretches) {
    const Surroundings around = surroundings_of(rules, stretch);
    likely.push_back(around.likely);
    best.push_back(around.best);
  }
  for (const Interval& stretch : merged(std::move(best))) {
    claim_stretch(rules, stretch, finding.claims);
  }
  if (rules.device >= 0) {
    scale_inside(rules, found, finding.edits);
  } else {
    RemovedTime removed(rules);
    for (const Interval& stretch : merged(std::move(likely))) removed.add(stretch, {});
    removed.to(finding.edits);
  }
  finding.assumption =
      "nothing is compiled in these steps; what runs stays as fast as now, or at best is not "
      "called for the first time either";
  finding.pessimism = 0.6;
  return finding;
}

/// All slices of compiled regions. What goes on after a graph break is called from the piece before
/// it, and lies inside of it.
std::vector<SliceId> compiled_regions(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet names(trace, [](std::string_view name) { return name.starts_with(kRegion); });
  std::vector<SliceId> regions;
  if (!names.any()) return regions;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const bool region = names.contains(trace.slices.name[slice.row()]);
      if (region && counts_on_host(rules, trace.slices.start[slice.row()]))
        regions.push_back(slice);
    }
  }
  return regions;
}

/// By step: the most different regions that one thread runs. An optimizer's are functions of their
/// own, compiled on purpose; so is what runs on another thread.
std::map<const Step*, std::size_t> most_regions(const RuleContext& rules,
                                                const std::vector<SliceId>& regions) {
  const Trace& trace = rules.trace();
  std::map<std::pair<const Step*, TrackId>, std::set<int>> functions;
  std::map<const Step*, std::size_t> most;
  for (const SliceId region : regions) {
    const auto id = compiled_id(trace.name(region));
    if (!id || rules.context.phases()[region] == Phase::optimizer) continue;
    const Step* const step = step_on_host(rules, trace.slices.start[region.row()]);
    std::set<int>& of_thread = functions[{step, trace.slices.track[region.row()]}];
    of_thread.insert(id->first);
    std::size_t& count = most[step];
    count = std::max(count, of_thread.size());
  }
  return most;
}

/// Different compiled regions per step.
std::optional<Finding> graph_breaks(const RuleContext& rules) {
  const std::vector<SliceId> regions = compiled_regions(rules);
  const std::map<const Step*, std::size_t> most = most_regions(rules, regions);
  std::size_t fewest = most.size() < rules.steps.size() ? 0 : SIZE_MAX;
  for (const auto& [step, count] : most) fewest = std::min(fewest, count);
  if (most.empty() || fewest < kManyRegions) return {};
  Finding finding;
  finding.key = "graph-breaks";
  finding.title = "At least " + std::to_string(fewest) + " compiled pieces run in each step";
  finding.family = Family::host;
  finding.weight = Weight::note;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, regions, counted_noun(regions.size(), "compiled region") + " in all"));
  finding.counter_evidence = "Several functions compiled on purpose look the same.";
  finding.fix = {.text =
                     "Python runs between the pieces, and nothing is fused across them. "
                     "TORCH_LOGS=graph_breaks names the causes: .item(), prints, calls into "
                     "other libraries, data-dependent branches. fullgraph=True turns each "
                     "into an error.",
                 .before = "model = torch.compile(model)",
                 .after = "model = torch.compile(model, fullgraph=True)"};
  finding.verify = "fathom ops TRACE --filter 'name~Compiled'";
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.context.nesting().work.empty()) return Abstention{"no operators were recorded"};
  std::vector<Finding> findings;
  const Found found = look(rules);
  if (rules.percent(found.time) >= kLeastPercent) {
    const bool only_first = found.steps.size() == 1 && *found.steps.begin() == rules.steps.front();
    findings.push_back(make(rules, found, !only_first));
  }
  if (auto breaks = graph_breaks(rules)) findings.push_back(std::move(*breaks));
  return findings;
}

}  // namespace
}  // namespace recompilation_rule

Rule recompilation() {
  return {.id = "recompilation",
          .title = "Compilation inside the steps, and graph breaks",
          .doc = recompilation_rule::kDoc,
          .check = recompilation_rule::check,
          .every_step = true};
}

}  // namespace fathom
