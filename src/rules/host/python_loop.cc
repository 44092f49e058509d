// python-loop: a Python loop over the slices of a tensor.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/roofline/op_cost.h"
#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/backward_nodes.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/common/slice_loops.h"
#include "rules/rule.h"

namespace fathom {
namespace python_loop_rule {
namespace {

constexpr std::string_view kDoc =
    "for row in x, or x[i] in a loop, calls the same few operators on each slice: each costs "
    "microseconds of Python and dispatch and a kernel of its own, whatever little it computes. "
    "Found is a block of operators that begins with aten::select, aten::slice, aten::narrow or "
    "aten::index (or follows aten::unbind) and comes at least 10 times in a row under one parent, "
    "in one step, each time of another slice; where values were not recorded, blocks of more than "
    "8 operators are taken for layers, and loops around recurrent cells (aten::gru_cell) cannot be "
    "batched. What aten:: operators call themselves does not count. Counted is, of the loop and of "
    "its operators' backward pass, the device's idle time; without a device the host's time, less "
    "what an operator computes beyond 5 us in the median round, or a matrix multiplication by its "
    "arithmetic at 100 GFLOP/s, because that remains in a batched one; and all that takes slices, "
    "joins results, or sums slices' gradients (each into zeros of the whole tensor's size). Fires "
    "from 1 % of the step. Source: TorchTidy's ForLoopIndexing (10 times).";

constexpr double kLeastPercent = 1.0;

/// What a core with AVX-512 reaches in GEMMs of single precision: torch's, of 48 to 1024 rows,
/// reached 94 to 103 GFLOP/s.
constexpr double kFlopsPerNs = 100;

using Ops = std::vector<UserOp>;

/// Loops of one call site.
struct Site {
  std::vector<SliceId> firsts;  // The first operator of each loop.
  std::vector<Claim> claims;
  Edits edits;
  std::string block;
  std::size_t rounds = 0;
  Duration spent{};
  Duration backward{};
};

/// Operators of a block that its title names.
constexpr std::size_t kNamed = 5;

std::string block_text(const Trace& trace, const Ops& ops, const SliceLoop& loop) {
  std::string text;
  const std::size_t whole = (loop.last - loop.first) / loop.rounds;
  const std::size_t size = std::min(whole, kNamed);
  for (std::size_t i = 0; i < size; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(trace.name(ops[loop.first + i].op));
  }
  return text + (whole > size ? ", …" : "");
}

/// Host slices of a loop's forward or backward pass, parents before children.
struct Pass {
  std::vector<SliceId> gone;    // Takes slices, joins results, sums slices' gradients: not without.
  std::vector<SliceId> called;  // One round of these does the work of all.
};

void append(std::vector<SliceId>& to, std::span<const SliceId> slices) {
  to.insert(to.end(), slices.begin(), slices.end());
}

Pass forward_pass(const RuleContext& rules, const Ops& ops, const SliceLoop& loop) {
  Pass pass;
  if (loop.joined != SIZE_MAX) append(pass.gone, tree(rules, ops[loop.joined].op));
  for (std::size_t i = loop.begin; i < loop.last; ++i) {
    const bool slices = takes_slices(rules.trace().name(ops[i].op));
    append(slices ? pass.gone : pass.called, tree(rules, ops[i].op));
  }
  return pass;
}

/// What autograd does in a node beside running it: sums the gradients of what several rounds used.
bool sums_gradients(std::string_view name) { return name == "aten::add" || name == "aten::add_"; }

/// Distributes a node's slices: autograd's sums lie right inside it.
void add_node(const RuleContext& rules, SliceId node, Pass& pass) {
  const Trace& trace = rules.trace();
  Time summed = Time::min();
  for (const SliceId inside : tree(rules, node)) {
    const bool directly = rules.context.nesting().parent[inside.row()] == node;
    if (directly && sums_gradients(trace.name(inside))) summed = trace.slices.end(inside);
    const bool is_sum = trace.slices.start[inside.row()] < summed;
    (is_sum ? pass.gone : pass.called).push_back(inside);
  }
}

/// Are numbers all that the loop takes, one of a list in each round? It goes through steps that
/// follow from one another, such as times of a schedule, not through parts of the data.
bool only_numbers(const Trace& trace, const Ops& ops, const SliceLoop& loop) {
  bool any = false;
  for (std::size_t i = loop.begin; i < loop.last; ++i) {
    if (!takes_slices(trace.name(ops[i].op))) continue;
    const std::optional<OpArguments> arguments = arguments_of(trace, ops[i].op);
    const TensorArgument* const from = arguments ? arguments->tensor(0) : nullptr;
    if (from == nullptr || from->dims.size() != 1 || trace.name(ops[i].op) != "aten::select")
      return false;
    any = true;
  }
  return any;
}

class Sites {
 public:
  explicit Sites(const RuleContext& rules) : rules_(rules), products_(rules.trace(), is_product) {}

  std::map<std::string, Site> look() {
    const UserOps user_ops(rules_);
    const SliceLoopNames names(rules_.trace());
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (rules_.device < 0 && thread.track != rules_.accounting.main_thread) continue;
      const Ops ops = user_ops.of(thread);
      for (const SliceLoop& loop : slice_loops(rules_, names, ops)) {
        if (only_numbers(rules_.trace(), ops, loop)) continue;
        std::string place = rules_.sites.of(ops[loop.first].op);
        if (place.empty()) place = block_text(rules_.trace(), ops, loop);
        add(ops, loop, sites_[place]);
      }
    }
    claim_gone_activities();
    return std::move(sites_);
  }

 private:
  void add(const Ops& ops, const SliceLoop& loop, Site& site) {
    const Trace& trace = rules_.trace();
    const Interval stretch{trace.slices.start[ops[loop.begin].op.row()],
                           trace.slices.end(ops[loop.last - 1].op)};
    const double removed = 1.0 - 1.0 / static_cast<double>(loop.rounds);
    site.firsts.push_back(ops[loop.first].op);
    site.rounds += loop.rounds;
    site.spent += stretch.length();
    site.block = block_text(trace, ops, loop);
    std::vector<Interval> stretches{stretch};
    claim_pass(forward_pass(rules_, ops, loop), removed, site);
    claim_pass(backward_pass(ops, loop, site, stretches), removed, site);
    RemovedTime between(rules_);
    for (const Interval& part : stretches) {
      if (rules_.device >= 0) {
        claim_idle(rules_, part, kHostLate, site.claims, removed);
        continue;
      }
      const auto most = static_cast<double>(to_ns(part.length())) * removed;
      claim_main_thread(rules_, part, {HostBucket::python}, site.claims, &between,
                        duration_ns(static_cast<std::int64_t>(most)));
    }
    between.to(site.edits);
  }

  /// The nodes of the loop's operators. Adds the stretches of time that they and calling them take.
  Pass backward_pass(const Ops& ops, const SliceLoop& loop, Site& site,
                     std::vector<Interval>& stretches) {
    if (!backward_) backward_.emplace(rules_);
    Pass pass;
    std::vector<Interval> ran;
    const auto take = [&](std::size_t i, bool gone) {
      for (const SliceId node : backward_->of(ops[i].op)) {
        ran.push_back(interval_of(rules_.trace(), node));
        site.backward += ran.back().length();
        if (gone) {
          append(pass.gone, tree(rules_, node));
        } else {
          add_node(rules_, node, pass);
        }
      }
    };
    if (loop.joined != SIZE_MAX) take(loop.joined, true);
    for (std::size_t i = loop.begin; i < loop.last; ++i) {
      take(i, takes_slices(rules_.trace().name(ops[i].op)));
    }
    append_stretches(std::move(ran), stretches);
    return pass;
  }

  /// Nodes that follow one another within the time of a call are one stretch.
  static void append_stretches(std::vector<Interval> nodes, std::vector<Interval>& stretches) {
    std::ranges::sort(nodes, {}, &Interval::begin);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0 && nodes[i].begin - stretches.back().end <= kLongestCall) {
        stretches.back().end = std::max(stretches.back().end, nodes[i].end);
      } else {
        stretches.push_back(nodes[i]);
      }
    }
  }

  /// Without a device, what calling costs, of each operator in the loop.
  void claim_pass(const Pass& pass, double removed, Site& site) {
    if (rules_.device >= 0) {
      for (const SliceId slice : pass.gone) gone_.emplace(slice.value, &site);
      scale(pass.gone, 0.0, site);
      scale(pass.called, 1.0 - removed, site);
      return;
    }
    for (const SliceId slice : pass.gone) site.claims.push_back(claim(rules_, slice));
    scale(pass.gone, 0.0, site);
    const std::map<StringId, Duration> computes = computing(pass.called);
    for (const SliceId slice : pass.called) {
      const Duration own = rules_.self_times[slice.row()];
      if (own <= Duration{}) continue;
      const Duration computed = computes.at(rules_.trace().slices.name[slice.row()]);
      const Duration stays = std::min(own, std::max(computed, arithmetic(slice)));
      const double part =
          removed * static_cast<double>(to_ns(own - stays)) / static_cast<double>(to_ns(own));
      site.claims.push_back(claim(rules_, slice, part));
      site.edits.scale.emplace_back(slice, static_cast<float>(1.0 - part));
    }
  }

  static void scale(const std::vector<SliceId>& slices, double left, Site& site) {
    for (const SliceId slice : slices) {
      site.edits.scale.emplace_back(slice, static_cast<float>(left));
    }
  }

  /// What a product computes at least.
  [[nodiscard]] Duration arithmetic(SliceId op) const {
    const Trace& trace = rules_.trace();
    if (!products_.contains(trace.slices.name[op.row()])) return {};
    const std::optional<OpArguments> called = arguments_of(trace, op);
    if (!called) return {};
    const std::optional<OpCost> cost = op_formula(trace.name(op))(*called);
    return duration_ns(cost ? std::llround(cost->flops / kFlopsPerNs) : 0);
  }

  /// What the operators of each name compute in a typical round, beyond being called.
  [[nodiscard]] std::map<StringId, Duration> computing(const std::vector<SliceId>& called) const {
    std::map<StringId, std::vector<Duration>> own;
    for (const SliceId slice : called) {
      own[rules_.trace().slices.name[slice.row()]].push_back(rules_.self_times[slice.row()]);
    }
    std::map<StringId, Duration> typical;
    for (auto& [name, times] : own) {
      typical[name] = std::max(median_of(std::move(times)) - kOperatorCall, Duration{});
    }
    return typical;
  }

  /// The kernels and copies of what is not called any more.
  void claim_gone_activities() {
    if (gone_.empty()) return;
    for_each_activity(rules_, [this](SliceId activity, SliceId op) {
      const auto site = op.valid() ? gone_.find(op.value) : gone_.end();
      if (site == gone_.end()) return;
      site->second->claims.push_back(claim(rules_, activity));
      site->second->edits.scale.emplace_back(activity, 0.0F);
    });
  }

  const RuleContext& rules_;
  NameSet products_;
  std::map<std::string, Site> sites_;
  std::optional<BackwardNodes> backward_;
  std::unordered_map<std::uint32_t, Site*> gone_;  // By the operator.
};

/// What the title's time has beside rounds and backward pass, of the main thread.
std::string beside(const RuleContext& rules, const Site& site) {
  const Duration rest = whole(site.claims) - site.spent - site.backward;
  if (rules.device >= 0 || rest <= Duration{}) return {};
  return ", and " + per_step(rules, rest) + " in joining the results" +
         (site.backward > Duration{} ? " and calling the backward pass" : "");
}

Finding make(const RuleContext& rules, const std::string& key, Site& site) {
  const Duration time = total(site.claims);
  Finding finding;
  finding.key = key;
  finding.title =
      "A Python loop over slices (" + site.block + "): " + per_step(rules, whole(site.claims));
  finding.family = Family::host;
  finding.weight = weight_of(rules, time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  const std::string backward =
      site.backward > Duration{}
          ? ", and " + per_step(rules, site.backward) + " in their backward pass"
          : "";
  finding.evidence.push_back(
      evidence_of(rules, site.firsts,
                  counted_noun(site.rounds, "round") + " of the same operators in " +
                      counted_noun(site.firsts.size(), "loop") + " of " +
                      counted_noun(rules.steps.size(), "step") + ", " +
                      per_step(rules, site.spent) + backward + beside(rules, site)));
  finding.counter_evidence =
      "Where a round needs the result of the one before (a recurrence), the loop cannot be "
      "batched; then compile it or use a scan.";
  finding.fix = {
      .text =
          "Work on the whole tensor: batched matrix multiplication (bmm, einsum), broadcasting, "
          "torch.vmap for a function of one slice, nested tensors or padding for slices of several "
          "lengths. Caveat: takes memory for all slices at once.",
      .before = "y = torch.stack([f(x[i] @ w) for i in range(len(x))])",
      .after = "y = f(x @ w)"};
  finding.verify = "fathom ops TRACE --filter 'name~select|slice|unbind'";
  finding.claims = std::move(site.claims);
  finding.edits = std::move(site.edits);
  finding.assumption =
      "one round of operators does the work of all; what they compute takes as long as before";
  finding.pessimism = 0.5;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  std::map<std::string, Site> sites = Sites(rules).look();
  std::vector<Finding> findings;
  for (auto& [place, site] : sites) {
    if (rules.percent(total(site.claims)) < kLeastPercent) continue;
    findings.push_back(make(rules, place, site));
  }
  return findings;
}

}  // namespace
}  // namespace python_loop_rule

Rule python_loop() {
  return {.id = "python-loop",
          .title = "A Python loop over slices",
          .doc = python_loop_rule::kDoc,
          .check = python_loop_rule::check};
}

}  // namespace fathom
