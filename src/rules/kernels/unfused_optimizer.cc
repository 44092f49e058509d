// unfused-optimizer: the optimizer updates one parameter after the other.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "analysis/structure/from_outside.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/common/weight_averages.h"
#include "rules/rule.h"

namespace fathom {
namespace unfused_optimizer_rule {
namespace {

constexpr std::string_view kDoc =
    "An optimizer step that launches several small operators per parameter (the for-loop "
    "implementation) spends its time on the host. PyTorch's foreach and fused implementations do "
    "the same work for all parameters at once. Fires when an Optimizer.step runs one operator at "
    "least 4 times, none of them aten::_foreach_* or aten::_fused_*, and takes at least 1 % of the "
    "step. Of steps inside one another the outermost counts; of one that is given a closure, what "
    "follows the closure's backward pass. An optimizer with a fused name (apex's FusedAdam) is "
    "left out, and one that multiplies matrices (Muon, Shampoo). Also names averages of the "
    "weights "
    "(EMA) that are updated one by one: a run of lerp_, of mul_ and add_, or of another such "
    "update "
    "after an optimizer step and before the next matrix multiplication, once for each gradient "
    "that "
    "was accumulated, or up to twice, for averages of buffers. Source: PyTorch's optimizer "
    "documentation (foreach, fused) and torch.optim.swa_utils; TorchTidy's OptimizerSingleTensor.";

/// Of one name, per optimizer step: one per parameter.
constexpr std::size_t kFewestRepeats = 4;
constexpr double kLeastPercent = 1.0;
/// What is left of the host's part when all parameters are updated at once. Measured ratios of the
/// foreach to the for-loop implementations lie well below this; docs/diagnosis.md has them.
constexpr float kHostLeft = 0.25F;
/// At best: what fused implementations leave of many tiny parameters.
constexpr double kHostLeftAtBest = 0.1;

bool is_step(std::string_view name) { return name.starts_with("Optimizer.step"); }

bool is_fused(std::string_view name) {
  return name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_") ||
         (is_step(name) && name.find("Fused") != std::string_view::npos);
}

/// The outermost steps in which matrices are multiplied (Muon, Shampoo): that is their work, which
/// joining parameters hardly spares. In ascending order.
std::vector<SliceId> multiplying(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet products(trace, is_product);
  std::vector<SliceId> found;
  if (!products.any()) return found;
  const NameSet step_names(trace, is_step);
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    SliceId step;  // the outermost around
    for (const SliceId slice : thread.slices) {
      const Time start = trace.slices.start[slice.row()];
      if (step.valid() && start >= trace.slices.end(step)) step = {};
      const StringId name = trace.slices.name[slice.row()];
      if (!step.valid() && step_names.contains(name)) step = slice;
      const bool known = !found.empty() && found.back() == step;
      if (step.valid() && products.contains(name) && !known) found.push_back(step);
    }
  }
  std::ranges::sort(found);
  return found;
}

/// What one trace's optimizer steps do.
struct Found {
  std::vector<SliceId> steps;      // Outermost Optimizer.step annotations in counted steps.
  std::vector<SliceId> operators;  // Those directly inside.
  std::size_t repeats = 0;         // Of the operator that occurs most.
  bool fused = false;
  bool any = false;  // Were there steps at all, of matrices, too?
};

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet step_names(trace, is_step);
  const NameSet fused_names(trace, is_fused);
  Found found;
  if (!step_names.any()) return found;
  const std::vector<SliceId> of_matrices = multiplying(rules);
  const auto multiplies = [&of_matrices](SliceId step) {
    return std::ranges::binary_search(of_matrices, step);
  };
  const Column<SliceId>& parent = rules.context.nesting().parent;
  const Phases& phases = rules.context.phases();
  FromOutside notes;
  notes.resize(trace.slices.size());
  const auto is_optimizer = [&](SliceId at) {
    return step_names.contains(trace.slices.name[at.row()]);
  };
  FromOutside owners;
  owners.resize(trace.slices.size());
  const auto is_no_range = [&](SliceId at) {
    return trace.kind(at) != SliceKind::user_annotation || is_optimizer(at);
  };
  std::vector<std::size_t> repeats(trace.strings.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (step_names.contains(trace.slices.name[row]) && is_host_work(trace.kind(slice)) &&
        counts(rules, slice)) {
      found.any = true;
      if (multiplies(slice)) continue;
      if (!innermost_around(notes, parent, parent[row], is_optimizer).valid())
        found.steps.push_back(slice);
      found.fused = found.fused || fused_names.contains(trace.slices.name[row]);
    }
    if (trace.kind(slice) != SliceKind::cpu_op || !parent[row].valid()) continue;
    // Ranges that a program makes in its own optimizer do not hide the operators.
    const SliceId around = innermost_around(owners, parent, parent[row], is_no_range);
    if (!around.valid() || !is_optimizer(around) || multiplies(around)) continue;
    if (!counts(rules, slice)) continue;
    if (phases[slice] != Phase::optimizer && phases[slice] != Phase::other) continue;
    found.operators.push_back(slice);
    found.repeats = std::max(found.repeats, ++repeats[trace.slices.name[row].row()]);
    found.fused = found.fused || fused_names.contains(trace.slices.name[row]);
  }
  return found;
}

/// When each step begins to update: its begin, or the end of the backward pass inside it.
std::vector<Time> begins_of(const RuleContext& rules, const std::vector<SliceId>& steps) {
  const Trace& trace = rules.trace();
  std::vector<Time> begins;
  begins.reserve(steps.size());
  for (const SliceId step : steps) begins.push_back(trace.slices.start[step.row()]);
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (rules.context.phases()[slice] != Phase::backward) continue;
      const Interval interval = interval_of(trace, slice);
      const auto after = std::ranges::upper_bound(
          steps, interval.begin, {}, [&](SliceId step) { return trace.slices.start[step.row()]; });
      if (after == steps.begin()) continue;
      const SliceId step = *std::prev(after);
      if (interval.end > trace.slices.end(step)) continue;
      Time& begin = begins[static_cast<std::size_t>(std::prev(after) - steps.begin())];
      begin = std::max(begin, interval.end);
    }
  }
  return begins;
}

/// Leaves the operators that begin in a step after its closure.
void drop_closures(const Trace& trace, const std::vector<SliceId>& steps,
                   const std::vector<Time>& begins, std::vector<SliceId>& operators) {
  std::erase_if(operators, [&](SliceId op) {
    const Time start = trace.slices.start[op.row()];
    const auto after = std::ranges::upper_bound(
        steps, start, {}, [&](SliceId step) { return trace.slices.start[step.row()]; });
    return after != steps.begin() &&
           start < begins[static_cast<std::size_t>(std::prev(after) - steps.begin())];
  });
}

/// PyTorch's optimizers, and which of them have a fused implementation; Adagrad's was one of the
/// processor alone for long, and raises an error on a device.
struct Implementation {
  std::string_view optimizer;
  bool fused;
  bool on_device = true;
};
constexpr auto kImplementations = std::to_array<Implementation>({{"Adam", true},
                                                                 {"AdamW", true},
                                                                 {"SGD", true},
                                                                 {"Adagrad", true, false},
                                                                 {"Adadelta", false},
                                                                 {"Adamax", false},
                                                                 {"ASGD", false},
                                                                 {"NAdam", false},
                                                                 {"RAdam", false},
                                                                 {"RMSprop", false},
                                                                 {"Rprop", false},
                                                                 {"Adafactor", false}});

/// "AdamW" of "Optimizer.step#AdamW.step", or "".
std::string_view optimizer_of(std::string_view range) {
  const std::size_t at = range.find('#');
  if (at == range.npos) return {};
  const std::string_view rest = range.substr(at + 1);
  return rest.substr(0, rest.find('.'));
}

/// Whose class of a name ran.
enum class Maker : std::uint8_t { unknown, torch, other };

/// By the frame of the update inside `step`: "torch/optim/adam.py(220): step".
Maker maker_of(const RuleContext& rules, SliceId step) {
  const Trace& trace = rules.trace();
  const Interval around = interval_of(trace, step);
  const NameSet updates(trace, [](std::string_view name) {
    return name.ends_with(": step") && name.find(".py(") != name.npos;
  });
  Maker maker = Maker::unknown;
  for (std::size_t row = 0; row < trace.slices.size() && updates.any(); ++row) {
    const SliceId slice(row);
    if (trace.kind(slice) != SliceKind::python_function) continue;
    if (!updates.contains(trace.slices.name[row])) continue;
    const Interval frame = interval_of(trace, slice);
    if (trace.slices.track[row] != trace.slices.track[step.row()]) continue;
    if (frame.begin < around.begin || frame.end > around.end) continue;
    if (trace.name(slice).find("torch/optim/") != std::string_view::npos) return Maker::torch;
    maker = Maker::other;
  }
  return maker;
}

/// A name that torch.optim shares with another library, whose class has no such implementation:
/// Adafactor of transformers.
constexpr std::string_view kShared = "Adafactor";

/// What embeddings with sparse=True and their gradients run, which no fused implementation takes.
constexpr std::array<std::string_view, 3> kSparse = {
    "aten::embedding_sparse_backward", "aten::_coalesce", "aten::_sparse_coo_tensor_unsafe"};

Fix fix_of(const RuleContext& rules, SliceId step) {
  const Trace& trace = rules.trace();
  const std::string optimizer(optimizer_of(trace.name(step)));
  const auto known = std::ranges::find(kImplementations, optimizer, &Implementation::optimizer);
  const Maker maker = maker_of(rules, step);
  const bool doubtful = optimizer == kShared && maker == Maker::unknown;
  if (known == kImplementations.end() || maker == Maker::other || doubtful) {
    std::string which = "Let the optimizer";
    if (doubtful) {
      which = "torch.optim.Adafactor takes foreach=True; that of transformers does not. Let it";
    } else if (!optimizer.empty()) {
      which = "Let " + optimizer + ", which is none of PyTorch's with such an implementation,";
    }
    return {
        .text = which +
                " work on all parameters at once: write its update with torch._foreach_ operators, "
                "or compile its step. Caveat: temporary memory of the size of the parameters.",
        .before = "optimizer.step()",
        .after = "torch.compile(optimizer.step)()"};
  }
  const std::string call = "torch.optim." + optimizer + "(model.parameters()";
  const bool sparse = NameSet(trace, kSparse).any();
  const bool on_device = rules.device >= 0 || device_unrecorded(rules);
  if (known->fused && !sparse && (known->on_device || !on_device)) {
    return {.text =
                "Let the optimizer work on all parameters at once; fused is the fastest. "
                "Caveat: parameters must be floats of one kind of device.",
            .before = call + ")",
            .after = call + ", fused=True)"};
  }
  return {.text =
              "Let the optimizer work on all parameters at once. Caveat: temporary memory of "
              "the size of the parameters" +
              std::string(sparse ? "; those with sparse gradients stay one by one, and fused "
                                   "implementations do not take them."
                                 : "."),
          .before = call + ")",
          .after = call + ", foreach=True)"};
}

/// Without a device each operator keeps what it takes beyond being called.
void claim_averages(const RuleContext& rules, const WeightAverages& found, Finding& finding) {
  if (rules.device >= 0) {
    claim_host_work(rules, found.ops, 1.0 - kHostLeftAtBest, finding.claims);
    scale_trees(rules, found.ops, kHostLeft, finding.edits);
    return;
  }
  for (const SliceId op : found.ops) {
    const Duration whole = rules.trace().slices.duration[op.row()];
    if (whole <= Duration{}) continue;
    const double called = static_cast<double>(to_ns(std::min(whole, kOperatorCall))) /
                          static_cast<double>(to_ns(whole));
    claim_host_work(rules, std::span(&op, 1), called * (1.0 - kHostLeftAtBest), finding.claims);
    scale_tree(rules, op, static_cast<float>(1.0 - called * (1.0 - kHostLeft)), finding.edits);
  }
  claim_callers(rules, found.ops, 1.0 - kHostLeftAtBest, finding);
}

std::optional<Finding> averages(const RuleContext& rules) {
  const WeightAverages found = weight_averages(rules);
  if (found.runs == 0 || rules.percent(found.time) < kLeastPercent) return {};
  Finding finding;
  finding.key = "averages";
  finding.cause = "weight averages";
  finding.title = "Averages of the weights are updated one by one: " + per_step(rules, found.time);
  finding.family = Family::host;
  finding.weight = weight_of(rules, found.time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, found.ops,
      counted_noun(found.updates / found.runs, "update") + " after an optimizer step, which has " +
          counted_noun(found.gradients / found.runs, "gradient") + ", by " +
          counted_noun(found.ops.size() / found.runs, "operator")));
  finding.counter_evidence =
      "Operators of large tensors compute and move as much as before: only calling them is saved.";
  finding.fix = {
      .text =
          "Update all averages at once, by torch._foreach_ operators or PyTorch's own class, which "
          "uses them. Caveat: it copies or averages buffers as use_buffers says.",
      .before = "for a, p in zip(averages, params): a.mul_(decay).add_(p, alpha=1 - decay)",
      .after =
          "torch._foreach_lerp_(averages, params, 1 - decay)\n"
          "# or: torch.optim.swa_utils.AveragedModel(model, "
          "multi_avg_fn=get_ema_multi_avg_fn(decay))"};
  finding.verify = "fathom ops TRACE --filter 'name~lerp|mul_|add_'";
  claim_averages(rules, found, finding);
  finding.assumption = "calling the updates takes a quarter of the time; what they compute stays";
  return finding;
}

/// Of the optimizer itself.
std::optional<Finding> updates_one_by_one(const RuleContext& rules, const Found& found) {
  const Trace& trace = rules.trace();
  if (found.steps.empty() || found.fused || found.repeats < kFewestRepeats * found.steps.size()) {
    return {};
  }
  const std::vector<Time> begins = begins_of(rules, found.steps);
  Duration time{};
  std::vector<SliceId> updates = found.steps;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    time += trace.slices.end(found.steps[i]) - begins[i];
    if (begins[i] > trace.slices.start[found.steps[i].row()]) updates = found.operators;
  }
  if (updates != found.steps) drop_closures(trace, found.steps, begins, updates);
  if (rules.percent(time) < kLeastPercent) return {};

  Finding finding;
  finding.title = "The optimizer updates parameters one by one: " + per_step(rules, time);
  finding.family = Family::host;
  finding.weight = rules.percent(time) >= 10 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  finding.evidence.push_back(
      {.text = count_text(static_cast<std::int64_t>(found.operators.size() / found.steps.size())) +
               " operators per optimizer step, none of them foreach or fused",
       .slices = costliest(trace, found.steps),
       .where = Interval{trace.slices.start[found.steps.front().row()],
                         trace.slices.end(found.steps.front())},
       .location = rules.sites.of(found.steps.front())});
  finding.counter_evidence = rules.device < 0 ? "Foreach needs temporary memory of the size of the "
                                                "parameters; what computing and moving "
                                                "them takes stays."
                                              : "Foreach needs temporary memory of the size of the "
                                                "parameters; where the device is busy "
                                                "during the optimizer step, little is saved.";
  finding.fix = fix_of(rules, found.steps.front());
  finding.verify = "fathom ops TRACE --filter 'name~Optimizer.step'";
  claim_host_work(rules, updates, 1.0 - kHostLeftAtBest, finding.claims);
  scale_trees(rules, updates, kHostLeft, finding.edits);
  finding.assumption =
      rules.device < 0
          ? "the optimizer's time falls to a quarter"
          : "the optimizer's host time falls to a quarter; its kernels stay as they are";
  return finding;
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  Found found = look(rules);
  if (!found.any) return Abstention{"no Optimizer.step annotation is in the counted steps"};
  if (mostly_once(rules))
    return Abstention{"most of the time is spent on what is done only once: record later steps"};
  std::ranges::sort(found.steps, {}, [&](SliceId step) { return trace.slices.start[step.row()]; });
  std::vector<Finding> findings;
  if (auto optimizer = updates_one_by_one(rules, found)) findings.push_back(std::move(*optimizer));
  if (auto average = averages(rules)) findings.push_back(std::move(*average));
  return findings;
}

}  // namespace
}  // namespace unfused_optimizer_rule

Rule unfused_optimizer() {
  return {.id = "unfused-optimizer",
          .title = "Parameters updated one by one",
          .doc = unfused_optimizer_rule::kDoc,
          .check = unfused_optimizer_rule::check};
}

}  // namespace fathom
