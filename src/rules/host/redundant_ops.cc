// redundant-ops: the same constant is computed again and again.
#include <algorithm>
#include <array>
#include <map>

#include "analysis/structure/from_outside.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/user_ops.h"
#include "rules/rule.h"

namespace fathom {
namespace redundant_ops_rule {
namespace {

constexpr std::string_view kDoc =
    "Masks, positions and rotary tables depend on shapes only, yet models often compute them in "
    "each layer and step. Found is a run of operators that begins with one that makes a constant "
    "(arange, linspace, eye, tril_indices; zeros, ones or full where a triangle or comparison "
    "follows), goes on with operators that shape tables (sin, cos, outer, cat, casts, arithmetic "
    "with numbers, …), and is called at least 4 times in one step with the same shapes and "
    "values, far more often than the once that is needed. A run ends where an operator joins two "
    "whole tensors, as that may be data. Counted is everything but the first run of each; fires "
    "from 1 % of the step; needs shapes. Sources: PyTorch's tuning guide (avoid needless work); "
    "the practice of register_buffer for constants.";

constexpr double kLeastPercent = 1.0;
constexpr std::size_t kLeastPerStep = 4;

constexpr auto kMaking =
    std::to_array<std::string_view>({"aten::arange", "aten::linspace", "aten::logspace",
                                     "aten::eye", "aten::tril_indices", "aten::triu_indices"});
/// Buffers that are filled later begin like these: they count only where a table follows.
constexpr auto kPlain =
    std::to_array<std::string_view>({"aten::zeros", "aten::ones", "aten::full"});
constexpr auto kMasking = std::to_array<std::string_view>(
    {"aten::tril", "aten::triu", "aten::lt", "aten::gt", "aten::le", "aten::ge", "aten::eq"});
constexpr auto kShaping =
    std::to_array<std::string_view>({"aten::mul",          "aten::div",
                                     "aten::add",          "aten::sub",
                                     "aten::rsub",         "aten::pow",
                                     "aten::exp",          "aten::log",
                                     "aten::neg",          "aten::reciprocal",
                                     "aten::sin",          "aten::cos",
                                     "aten::outer",        "aten::ger",
                                     "aten::cat",          "aten::stack",
                                     "aten::unsqueeze",    "aten::view",
                                     "aten::reshape",      "aten::expand",
                                     "aten::repeat",       "aten::transpose",
                                     "aten::permute",      "aten::to",
                                     "aten::_to_copy",     "aten::contiguous",
                                     "aten::clone",        "aten::tril",
                                     "aten::triu",         "aten::lt",
                                     "aten::gt",           "aten::le",
                                     "aten::ge",           "aten::eq",
                                     "aten::tile",         "aten::bitwise_not",
                                     "aten::logical_not",  "aten::masked_fill",
                                     "aten::masked_fill_", "aten::arange",
                                     "aten::ones",         "aten::zeros",
                                     "aten::full",         "aten::meshgrid",
                                     "aten::float_power",  "aten::repeat_interleave",
                                     "aten::flatten"});

template <std::size_t Size>
NameSet set_of(const Trace& trace, const std::array<std::string_view, Size>& names) {
  return {trace, [&names](std::string_view name) {
            return std::ranges::find(names, name) != names.end();
          }};
}

/// Tensors of at least two dimensions among the arguments; those in a list do not count.
std::size_t whole_tensors(std::string_view shapes) {
  std::size_t count = 0;
  std::size_t depth = 0;
  std::size_t commas = 0;
  for (const char c : shapes) {
    if (c == '[') {
      ++depth;
      commas = 0;
    }
    if (c == ',' && depth == 2) ++commas;
    if (c == ']' && depth-- == 2 && commas > 0) ++count;
  }
  return count;
}

/// Operators [first, last) that make one constant.
struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t key = 0;  // Hash of names, shapes and values.
};

class Finder {
 public:
  explicit Finder(const RuleContext& rules)
      : trace_(rules.trace()),
        making_(set_of(trace_, kMaking)),
        plain_(set_of(trace_, kPlain)),
        masking_(set_of(trace_, kMasking)),
        shaping_(set_of(trace_, kShaping)) {
    joins_.reserve(trace_.signatures.size());
    for (const Signature& signature : trace_.signatures) {
      joins_.push_back(signature.shapes.valid() &&
                       whole_tensors(trace_.text(signature.shapes)) > 1);
    }
  }

  [[nodiscard]] bool any() const { return making_.any() || plain_.any(); }

  [[nodiscard]] std::vector<Run> runs(const std::vector<UserOp>& ops) const {
    std::vector<Run> found;
    for (std::size_t at = 0; at < ops.size();) {
      const Run run = run_at(ops, at);
      if (run.last > at) found.push_back(run);
      at = std::max(run.last, at + 1);
    }
    return found;
  }

 private:
  [[nodiscard]] StringId name(const UserOp& op) const { return trace_.slices.name[op.op.row()]; }
  [[nodiscard]] std::uint32_t signature(const UserOp& op) const {
    const std::uint32_t detail = trace_.slices.detail[op.op.row()];
    return detail == SliceId::kNone || !trace_.ops.signature[detail].valid()
               ? SliceId::kNone
               : static_cast<std::uint32_t>(trace_.ops.signature[detail].row());
  }
  /// Are its arguments known? An operator that makes something of numbers must have them recorded.
  [[nodiscard]] bool known(const UserOp& op, bool values) const {
    const std::uint32_t row = signature(op);
    return row != SliceId::kNone && trace_.signatures[row].shapes.valid() &&
           (!values || trace_.signatures[row].concrete.valid());
  }
  [[nodiscard]] bool goes_on(const UserOp& op) const {
    if (!shaping_.contains(name(op)) && !making_.contains(name(op))) return false;
    return known(op, false) && !joins_[signature(op)];
  }

  [[nodiscard]] Run run_at(const std::vector<UserOp>& ops, std::size_t at) const {
    Run run{.first = at, .last = at, .key = 0};
    const bool plain = plain_.contains(name(ops[at]));
    if ((!plain && !making_.contains(name(ops[at]))) || !known(ops[at], true)) return run;
    bool masks = false;
    for (; run.last < ops.size(); ++run.last) {
      const UserOp& op = ops[run.last];
      if (op.step != ops[at].step || op.parent != ops[at].parent) break;
      if (run.last > at && !goes_on(op)) break;
      masks = masks || masking_.contains(name(op));
      run.key = run.key * 1'099'511'628'211U + name(op).row();
      run.key = run.key * 1'099'511'628'211U + signature(op) + 1;
    }
    if (plain && !masks) run.last = at;
    return run;
  }

  const Trace& trace_;
  NameSet making_;
  NameSet plain_;
  NameSet masking_;
  NameSet shaping_;
  std::vector<bool> joins_;  // By signature: joins whole tensors.
};

/// One constant of a thread: the runs that make it.
struct Constant {
  std::vector<Run> runs;
  std::size_t steps = 0;
  const Step* last_step = nullptr;
};

struct Found {
  std::vector<SliceId> ops;  // Of all needless runs.
  std::vector<SliceId> firsts;
  std::vector<Interval> stretches;
  std::string text;  // Names of the operators of the commonest run.
  std::size_t most = 0;
};

std::string run_text(const Trace& trace, const std::vector<UserOp>& ops, const Run& run) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  for (std::size_t i = run.first; i < std::min(run.last, run.first + kNamed); ++i) {
    text += (i == run.first ? "" : ", ") + std::string(trace.name(ops[i].op));
  }
  return text;
}

void look(const RuleContext& rules, const Finder& finder, const std::vector<UserOp>& ops,
          Found& found) {
  const Trace& trace = rules.trace();
  std::map<std::uint64_t, Constant> constants;
  for (const Run& run : finder.runs(ops)) {
    Constant& constant = constants[run.key];
    if (constant.last_step != ops[run.first].step) ++constant.steps;
    constant.last_step = ops[run.first].step;
    constant.runs.push_back(run);
  }
  std::vector<const Constant*> by_time;
  by_time.reserve(constants.size());
  for (const auto& [key, constant] : constants) by_time.push_back(&constant);
  std::ranges::sort(by_time, {}, [](const Constant* of) { return of->runs.front().first; });
  for (const Constant* const of : by_time) {
    const Constant& constant = *of;
    if (constant.runs.size() < kLeastPerStep * constant.steps) continue;
    if (constant.runs.size() > found.most) {
      found.most = constant.runs.size();
      found.text = run_text(trace, ops, constant.runs.front());
    }
    for (const Run& run : std::span(constant.runs).subspan(1)) {
      found.firsts.push_back(ops[run.first].op);
      for (std::size_t i = run.first; i < run.last; ++i) found.ops.push_back(ops[i].op);
      found.stretches.push_back(
          {trace.slices.start[ops[run.first].op.row()], trace.slices.end(ops[run.last - 1].op)});
    }
  }
}

/// With a device: the activities of the operators, and the idle time meanwhile.
void claim_all(const RuleContext& rules, const Found& found, Finding& finding) {
  if (rules.device < 0) {
    claim_host_work(rules, found.ops, 1.0, finding.claims);
  } else {
    const Column<SliceId>& parent = rules.context.nesting().parent;
    std::vector<bool> needless(rules.trace().slices.size());
    for (const SliceId op : found.ops) needless[op.row()] = true;
    FromOutside notes;
    notes.resize(needless.size());
    const auto is_needless = [&](SliceId slice) { return needless[slice.row()]; };
    for_each_activity(rules, [&](SliceId activity, SliceId op) {
      if (!innermost_around(notes, parent, op, is_needless).valid()) return;
      finding.claims.push_back(claim(rules, activity));
      finding.edits.scale.emplace_back(activity, 0.0F);
    });
    for (const Interval& stretch : found.stretches) {
      claim_idle(rules, stretch, kHostLate, finding.claims);
    }
  }
  scale_trees(rules, found.ops, 0.0F, finding.edits);
  claim_callers(rules, found.ops, 1.0, finding);
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  if (!has_shapes(trace)) {
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  }
  const Finder finder(rules);
  if (!finder.any()) return std::vector<Finding>{};
  Found found;
  const UserOps user_ops(rules);
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (rules.device < 0 && thread.track != rules.accounting.main_thread) continue;
    look(rules, finder, user_ops.of(thread), found);
  }
  Finding finding;
  claim_all(rules, found, finding);
  const Duration time = total(finding.claims);
  if (found.firsts.empty() || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title = "The same constants are computed again and again: " + per_step(rules, time);
  finding.family = Family::host;
  finding.weight = weight_of(rules, time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(rules, found.firsts,
                                         counted_noun(found.firsts.size(), "run") +
                                             " that repeat an earlier one with equal shapes "
                                             "and values; the commonest (" +
                                             count_text(static_cast<std::int64_t>(found.most)) +
                                             " times): " + found.text));
  finding.counter_evidence =
      "Operators count as equal by shapes and recorded values; a tensor changed in place between, "
      "or a scalar that was not recorded, would make them differ.";
  finding.fix = {
      .text =
          "Compute it once and pass it on, or keep it as a buffer; recompute it only "
          "when the shape changes. Caveat: a buffer takes memory for good.",
      .before = "def forward(self, x): mask = torch.ones(n, n, device=x.device).tril()",
      .after = "self.register_buffer('mask', torch.ones(n, n).tril(), persistent=False)"};
  finding.verify = "fathom ops TRACE --filter 'name~arange|tril|sin|cos' --group-by stack=3";
  finding.assumption = "each constant is computed once";
  finding.pessimism = 0.6;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace redundant_ops_rule

Rule redundant_ops() {
  return {.id = "redundant-ops",
          .title = "The same constant computed again and again",
          .doc = redundant_ops_rule::kDoc,
          .check = redundant_ops_rule::check};
}

}  // namespace fathom
