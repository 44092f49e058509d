// fusable-elementwise: neighbouring elementwise kernels that could be one.
#include <algorithm>
#include <unordered_map>

#include "analysis/op_formulas.h"
#include "rules/support.h"

namespace fathom {
namespace {

constexpr std::string_view kDoc =
    "An elementwise kernel reads its inputs from memory, does next to no arithmetic, and "
    "writes its output back. A chain of them can be one kernel that reads and writes "
    "once: torch.compile does that. Fires when kernels beyond the longest of each chain "
    "(neighbours on one stream with nothing else between them, at least three) take at "
    "least 3 % of the step; without a device the same of the main thread's operators. Source: "
    "PyTorch's tuning guide (fuse operations); the "
    "roofline of elementwise kernels.";

constexpr double kLeastPercent = 3.0;
constexpr std::size_t kShortest = 3;

/// What an operator of the main thread is to a chain.
enum class Role : std::uint8_t { member, breaks, neutral };

/// Operators with other formulas compute something else; those without any are views and wrappers.
Role role_of(std::string_view name) {
  const OpFormula formula = op_formula(name);
  if (!formula) return Role::neutral;
  return formula.cost == cost::elementwise || formula.cost == cost::comparison ? Role::member
                                                                               : Role::breaks;
}

/// What can be saved: all kernels of a chain but the longest.
class Chains {
 public:
  explicit Chains(const RuleContext& rules) : rules_(rules) {}

  void add(SliceId activity, bool elementwise) {
    std::vector<SliceId>& chain = open_[rules_.trace().slices.track[activity.row()].value];
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

 private:
  void close(std::vector<SliceId>& chain) {
    if (chain.size() >= kShortest) {
      const Trace& trace = rules_.trace();
      const auto longest = std::ranges::max_element(
          chain, {}, [&](SliceId kernel) { return trace.slices.duration[kernel.row()]; });
      for (auto kernel = chain.begin(); kernel != chain.end(); ++kernel) {
        if (kernel != longest) save(*kernel);
      }
      ++count_;
    }
    chain.clear();
  }

  void save(SliceId work) {
    if (is_device_activity(rules_.trace().kind(work))) {
      saved_.add(rules_, work, rules_.context.links().op[work.row()]);
      return;
    }
    for (const SliceId inside : tree(rules_, work)) saved_.add(rules_, inside, inside);
  }

  const RuleContext& rules_;
  std::unordered_map<std::uint32_t, std::vector<SliceId>> open_;  // By stream.
  Blamed saved_;
  std::size_t count_ = 0;
};

void chain_kernels(const RuleContext& rules, Chains& chains) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    chains.add(activity,
               trace.kind(activity) == SliceKind::kernel &&
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
  Time member_end = Time::min();
  for_each_work(rules, [&](SliceId op, SliceId) {
    const Role role = roles[trace.slices.name[op.row()].row()];
    if (trace.slices.start[op.row()] < member_end || role == Role::neutral) return;
    chains.add(op, role == Role::member);
    if (role == Role::member) member_end = trace.slices.end(op);
  });
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
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
  finding.title = "Chains of elementwise " + std::string(works) + ": " +
                  per_step(rules, saved.time) + " by fusing";
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(saved.time) >= 15 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      evidence_of(rules, saved,
                  count_text(static_cast<std::int64_t>(chains.count() / rules.steps.size())) +
                      " chains of at least three elementwise " + std::string(works) +
                      " per step; this is all but the longest of each"));
  finding.counter_evidence =
      "Neighbours on a stream need not depend on one another; those of the optimizer are better "
      "fused "
      "by fused=True.";
  finding.fix = {.text =
                     "Compile the model, or the function that holds the chain; mind recompilations "
                     "for changing shapes (dynamic=True).",
                 .before = "y = (x * scale + bias).sigmoid() * x",
                 .after =
                     "@torch.compile\ndef gate(x, scale, bias): return (x * scale + bias)"
                     ".sigmoid() * x"};
  finding.verify = "fathom kernels TRACE --filter class=elementwise";
  claim_blamed(rules, saved, 1.0, finding);
  finding.assumption = "each chain becomes one kernel as long as its longest";
  finding.pessimism = 0.3;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace

Rule fusable_elementwise() {
  return {.id = "fusable-elementwise",
          .title = "Chains of elementwise kernels",
          .doc = kDoc,
          .check = check};
}

}  // namespace fathom
