// fusable-elementwise: neighbouring elementwise kernels that could be one.
#include <algorithm>
#include <unordered_map>

#include "analysis/roofline/op_formulas.h"
#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/weight_averages.h"
#include "rules/rule.h"

namespace fathom {
namespace fusable_elementwise_rule {
namespace {

constexpr std::string_view kDoc =
    "An elementwise kernel reads its inputs from memory, does next to no arithmetic, and "
    "writes its output back. A chain of them can be one kernel that reads and writes "
    "once: torch.compile does that. Fires when kernels beyond the longest of each chain "
    "(neighbours on one stream with nothing else between them, at least three) take at "
    "least 3 % of the step, but not where all that ran is one operator, repeated with the same "
    "sizes; without a device the same of the main thread's operators. Source: "
    "PyTorch's tuning guide (fuse operations); the "
    "roofline of elementwise kernels.";

constexpr double kLeastPercent = 3.0;
constexpr std::size_t kShortest = 3;
/// Percent of the step from which on a part of the time is named.
constexpr double kLeastShown = 1.0;

/// What an operator of the main thread is to a chain.
enum class Role : std::uint8_t { member, breaks, neutral };

/// Operators with other formulas compute something else; those without any are views and wrappers.
Role role_of(std::string_view name) {
  const OpFormula formula = op_formula(name);
  if (!formula) return Role::neutral;
  return formula.cost == cost::elementwise || formula.cost == cost::comparison ? Role::member
                                                                               : Role::breaks;
}

/// A kernel or operator of a chain, and the parts of its time that fusing saves.
struct Fused {
  SliceId work{};
  double likely = 1;
  double best = 1;
};

/// What can be saved: all kernels of a chain but one. The fused one takes no longer than the
/// longest of the chain, and no less than the median one, which moves as much memory; likely is the
/// middle.
class Chains {
 public:
  explicit Chains(const RuleContext& rules) : rules_(rules) {}

  void add(SliceId activity, bool elementwise) {
    std::vector<SliceId>& chain = open_[rules_.trace().slices.track[activity.row()].value];
    // A chain of one step is not fused with that of the next.
    if (!chain.empty() && step_of(chain.front()) != step_of(activity)) close(chain);
    if (!elementwise) {
      close(chain);
      return;
    }
    chain.push_back(activity);
  }
  const Blamed& finish() {
    for (auto& [stream, chain] : open_) close(chain);
    return saved_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// What the longest of each chain take beyond the median one: the least that remains of a chain.
  [[nodiscard]] Duration shortened() const {
    Duration sum{};
    for (const Fused& fused : fused_) {
      if (fused.likely == 1.0) continue;
      for (const SliceId inside : parts(fused.work)) sum += claim(rules_, inside, fused.best).time;
    }
    return sum;
  }
  void claim_into(Finding& finding) const {
    std::vector<SliceId> gone;
    for (const Fused& fused : fused_) {
      if (fused.likely == 1.0) gone.push_back(fused.work);
      for (const SliceId inside : parts(fused.work)) {
        finding.claims.push_back(claim(rules_, inside, fused.best));
        finding.edits.scale.emplace_back(inside, static_cast<float>(1.0 - fused.likely));
      }
    }
    claim_callers(rules_, gone, 1.0, finding);
  }

 private:
  [[nodiscard]] const Step* step_of(SliceId work) const {
    return rules_.step_at(rules_.trace().slices.start[work.row()]);
  }

  void close(std::vector<SliceId>& chain) {
    if (chain.size() >= kShortest) {
      const auto length = [this](SliceId work) {
        return rules_.trace().slices.duration[work.row()];
      };
      const auto longest = std::ranges::max_element(chain, {}, length);
      std::vector<Duration> lengths;
      lengths.reserve(chain.size());
      for (const SliceId work : chain) lengths.push_back(length(work));
      const double shorter =
          part(length(*longest) - median_of(std::move(lengths)), length(*longest));
      for (auto work = chain.begin(); work != chain.end(); ++work) {
        if (work == longest) {
          fused_.push_back({.work = *work, .likely = shorter / 2, .best = shorter});
        } else {
          save(*work);
        }
      }
      ++count_;
    }
    chain.clear();
  }

  static double part(Duration some, Duration whole) {
    return whole <= Duration{}
               ? 0
               : static_cast<double>(to_ns(some)) / static_cast<double>(to_ns(whole));
  }

  [[nodiscard]] bool on_device(SliceId work) const {
    return is_device_activity(rules_.trace().kind(work));
  }

  /// The activity; of an operator all that runs inside, too. Refers to `work`.
  [[nodiscard]] std::span<const SliceId> parts(const SliceId& work) const {
    return on_device(work) ? std::span(&work, 1) : tree(rules_, work);
  }

  void save(const SliceId& work) {
    fused_.push_back({.work = work});
    for (const SliceId inside : parts(work)) {
      saved_.add(rules_, inside, on_device(work) ? rules_.context.links().op[work.row()] : inside);
    }
  }

  const RuleContext& rules_;
  std::unordered_map<std::uint32_t, std::vector<SliceId>> open_;  // By stream.
  Blamed saved_;
  std::vector<Fused> fused_;
  std::size_t count_ = 0;
};

/// Is all that ran one operator, called again and again with the same sizes? A benchmark repeats
/// it; its calls are no links of a chain.
bool repeats_one_call(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Signature* only = nullptr;
  StringId name{};
  bool same = true;
  for_each_work(rules, [&](SliceId, SliceId op) {
    const Signature* const signature = op.valid() ? signature_of(trace, op) : nullptr;
    same = same && signature != nullptr && signature->shapes.valid() &&
           (only == nullptr || (signature == only && trace.slices.name[op.row()] == name));
    if (!same) return;
    only = signature;
    name = trace.slices.name[op.row()];
  });
  return same && only != nullptr;
}

void chain_kernels(const RuleContext& rules, Chains& chains) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  const WeightAverages averages = weight_averages(rules);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    chains.add(activity,
               trace.kind(activity) == SliceKind::kernel && !averages.hold(op) &&
                   timelines.traits_of(trace, activity).kernel_class == KernelClass::elementwise);
  });
}

/// The main thread's operators; what runs inside a member is part of it.
void chain_operators(const RuleContext& rules, Chains& chains) {
  const Trace& trace = rules.trace();
  std::vector<Role> roles(trace.strings.size());
  for (std::size_t row = 0; row < roles.size(); ++row) {
    roles[row] = role_of(trace.strings.view(StringId(row)));
  }
  const WeightAverages averages = weight_averages(rules);
  Time member_end = Time::min();
  for_each_work(rules, [&](SliceId op, SliceId) {
    // Each works on another weight: they are no chain.
    const Role role = averages.hold(op) ? Role::breaks : roles[trace.slices.name[op.row()].row()];
    if (trace.slices.start[op.row()] < member_end || role == Role::neutral) return;
    chains.add(op, role == Role::member);
    if (role == Role::member) member_end = trace.slices.end(op);
  });
}

/// Is most of the time the optimizer's?
bool is_of_optimizer(const RuleContext& rules, const Blamed& saved) {
  const auto in_optimizer = [&](SliceId op) {
    return op.valid() && rules.context.phases()[op] == Phase::optimizer;
  };
  if (rules.device >= 0) {
    const auto count = std::ranges::count_if(saved.ops, in_optimizer);
    return 2 * static_cast<std::size_t>(count) > saved.activities.size();
  }
  // A few large operators of the model may outweigh hundreds of small ones.
  Duration all{};
  Duration optimizer{};
  for (const SliceId op : saved.ops) {
    const Duration time = rules.trace().slices.duration[op.row()];
    all += time;
    if (in_optimizer(op)) optimizer += time;
  }
  return 2 * optimizer > all;
}

Fix fix_of(const RuleContext& rules, const Blamed& saved) {
  if (is_of_optimizer(rules, saved)) {
    return {.text =
                "Most of them are the optimizer's: a foreach or fused implementation, where it has "
                "one, updates all parameters at once; else compile its step.",
            .before = "optimizer.step()",
            .after = "torch.compile(optimizer.step)()"};
  }
  const Frameworks frameworks = frameworks_of(rules.trace());
  if (frameworks.compiled && !frameworks.generates) {
    return {.text =
                "The program is traced, but no code is made of it: the backend that it is compiled "
                "with calls operators one by one. The default backend, inductor, fuses chains.",
            .before = "model = torch.compile(model, backend=backend)",
            .after = "model = torch.compile(model)"};
  }
  if (frameworks.compiled) {
    return {.text =
                "The program is compiled already; these run outside of what is, or on both sides "
                "of a break in its graph. TORCH_LOGS=graph_breaks names the breaks; compile the "
                "function that holds the chain, too.",
            .before = "",
            .after = ""};
  }
  return {.text =
              "Compile the model, or the function that holds the chain; mind recompilations "
              "for changing shapes (dynamic=True).",
          .before = "y = (x * scale + bias).sigmoid() * x",
          .after =
              "@torch.compile\ndef gate(x, scale, bias): return (x * scale + bias)"
              ".sigmoid() * x"};
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  if (repeats_one_call(rules)) return std::vector<Finding>{};
  Chains chains(rules);
  if (rules.device >= 0) {
    chain_kernels(rules, chains);
  } else {
    chain_operators(rules, chains);
  }
  const Blamed& saved = chains.finish();
  if (rules.percent(saved.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  const std::string_view works = rules.device >= 0 ? "kernels" : "operators";
  chains.claim_into(finding);
  finding.title = "Chains of elementwise " + std::string(works) + ": " +
                  per_step(rules, total(finding.claims)) + " by fusing";
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(saved.time) >= 15 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, saved,
      counted_noun(std::max<std::size_t>(1, chains.count() / rules.steps.size()), "chain") +
          " of at least three elementwise " + std::string(works) +
          " per step; all but the longest of each take " + per_step(rules, saved.time)));
  if (const Duration shortened = chains.shortened(); rules.percent(shortened) >= kLeastShown) {
    finding.evidence.push_back(
        {.text = "the longest of each, could it be as short as the median one of its chain, would "
                 "take " +
                 per_step(rules, shortened) + " less",
         .slices = {},
         .where = {},
         .location = {}});
  }
  if (is_of_optimizer(rules, saved)) finding.cause = "optimizer";
  finding.counter_evidence =
      rules.device >= 0
          ? "Neighbours on a stream need not depend on one another; those of the optimizer are "
            "better fused by fused=True."
          : "Neighbours need not depend on one another; those of the optimizer are better fused "
            "by fused=True.";
  finding.fix = fix_of(rules, saved);
  finding.verify = rules.device >= 0 ? "fathom kernels TRACE --filter class=elementwise"
                                     : "fathom ops TRACE --sort -host_self_ns";
  finding.assumption =
      "each chain becomes one kernel, between its longest and its median one: as long as the "
      "middle "
      "of the two; as the median at best";
  finding.pessimism = 0.3;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace fusable_elementwise_rule

Rule fusable_elementwise() {
  return {.id = "fusable-elementwise",
          .title = "Chains of elementwise kernels",
          .doc = fusable_elementwise_rule::kDoc,
          .check = fusable_elementwise_rule::check};
}

}  // namespace fathom
