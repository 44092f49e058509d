// growing-tensors: a tensor is concatenated with a little more again and again.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_steps.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace growing_tensors_rule {
namespace {

constexpr std::string_view kDoc =
    "x = torch.cat([x, new]) in a loop copies all of x each time: n parts cost n * n / 2 copies in "
    "place of n. Found are chains of at least 3 calls of aten::cat on one thread, each of which "
    "takes what the one before made, known by its shape, and adds at most as much along the same "
    "dimension. Fires where at least 8 calls in such chains take 2 % of the step, or fewer take 20 "
    "%. Counted is what "
    "writing only the new part would save: of each call the share of old elements, but for 2 us of "
    "a kernel and 5 us of a call without a device. Needs shapes; without a device joining is named "
    "without them, too, from half of the step on. Sources: PyTorch's tuning guide "
    "(preallocate for varying lengths); Hugging Face's static cache.";

constexpr double kLeastPercent = 2.0;
constexpr std::size_t kLeastLength = 3;
constexpr std::size_t kLeastCalls = 8;
/// Fewer calls may stand side by side by chance, unless they take this much.
constexpr double kMuchPercent = 20.0;
/// Without shapes joining is named where it takes most of the step.
constexpr double kMostPercent = 50.0;
/// What is old of a tensor that grows, where that is not known.
constexpr double kOldPart = 0.8;
/// A kernel that writes the new part takes at least this.
constexpr Duration kShortestKernel = duration_ns(2'000);

using Shape = std::vector<std::int64_t>;

double elements(const Shape& shape) {
  double product = 1;
  for (const std::int64_t dim : shape) product *= static_cast<double>(dim);
  return product;
}

/// The tensors that aten::cat joins: "[[[8,3],[8,1]],[]]" is two; none where they are not recorded.
std::vector<Shape> joined(std::string_view shapes) {
  std::vector<Shape> found;
  const std::vector<std::string_view> arguments = json_elements(shapes);
  if (arguments.empty()) return found;
  for (const std::string_view tensor : json_elements(arguments.front())) {
    std::optional<Shape> shape = json_integers(tensor);
    if (!shape) return {};
    // An empty tensor may stand for a beginning; it adds nothing.
    if (*shape != Shape{0}) found.push_back(std::move(*shape));
  }
  return found;
}

/// The only dimension in which tensors differ; as many as there are dimensions where none does or
/// more than one.
std::size_t only_difference(const std::vector<Shape>& tensors) {
  const std::size_t dims = tensors.front().size();
  std::size_t found = dims;
  for (std::size_t dim = 0; dim < dims; ++dim) {
    const bool same = std::ranges::all_of(
        tensors, [&](const Shape& each) { return each[dim] == tensors.front()[dim]; });
    if (same) continue;
    if (found != dims) return dims;
    found = dim;
  }
  return found;
}

/// One concatenation that makes a tensor of an older, larger part and a new one.
struct Join {
  Shape old;
  Shape result;
  std::size_t dim = 0;
  [[nodiscard]] double new_part() const { return 1.0 - elements(old) / elements(result); }
};

std::optional<Join> join_of(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return {};
  const std::vector<Shape> tensors = joined(trace.text(signature->shapes));
  if (tensors.size() < 2) return {};
  const std::size_t dims = tensors.front().size();
  for (const Shape& each : tensors)
    if (each.size() != dims) return {};
  std::size_t dim = only_difference(tensors);
  if (dim == dims && signature->concrete.valid()) {
    const auto values = json_elements(trace.text(signature->concrete));
    const auto value = values.size() < 2
                           ? std::nullopt
                           : json_integers("[" + std::string(json_unquoted(values[1])) + "]");
    if (value && value->size() == 1) {
      const std::int64_t at = value->front();
      dim = static_cast<std::size_t>(at < 0 ? at + static_cast<std::int64_t>(dims) : at);
    }
  }
  if (dim >= dims) return {};
  Join join{.old = *std::ranges::max_element(tensors, {}, elements), .result = {}, .dim = dim};
  join.result = join.old;
  join.result[dim] = 0;
  for (const Shape& each : tensors) join.result[dim] += each[dim];
  // More new than old: that is joining, not growing.
  if (join.new_part() > 0.5 || join.new_part() <= 0) return {};
  return join;
}

struct Link {
  SliceId op{};
  double new_part = 0;
  double elements = 0;
};

struct Chain {
  std::vector<Link> links;
};

/// The chains of one thread. O(calls * log calls).
std::vector<Chain> chains_of(const RuleContext& rules, const Nesting::Thread& thread,
                             const NameSet& names) {
  const Trace& trace = rules.trace();
  std::vector<Chain> chains;
  // By what was made last, and in which dimension it grows; the newest behind.
  std::map<std::pair<Shape, std::size_t>, std::vector<std::size_t>> waiting;
  for (const SliceId op : thread.slices) {
    if (!names.contains(trace.slices.name[op.row()]) || trace.kind(op) != SliceKind::cpu_op)
      continue;
    if (!counts_on_host(rules, trace.slices.start[op.row()])) continue;
    const std::optional<Join> join = join_of(trace, op);
    if (!join) continue;
    std::vector<std::size_t>& candidates = waiting[{join->old, join->dim}];
    std::size_t at = chains.size();
    if (candidates.empty()) {
      chains.emplace_back();
    } else {
      at = candidates.back();
      candidates.pop_back();
    }
    chains[at].links.push_back(
        {.op = op, .new_part = join->new_part(), .elements = elements(join->result)});
    waiting[{join->result, join->dim}].push_back(at);
  }
  std::erase_if(chains, [](const Chain& chain) { return chain.links.size() < kLeastLength; });
  return chains;
}

struct Found {
  std::size_t chains = 0;
  std::vector<Link> links;
  std::vector<SliceId> ops;
  double written = 0;  // Elements.
  double added = 0;
};

Found look(const RuleContext& rules, const NameSet& names) {
  Found found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (rules.device < 0 && thread.track != rules.accounting.main_thread) continue;
    for (const Chain& chain : chains_of(rules, thread, names)) {
      ++found.chains;
      for (const Link& link : chain.links) {
        found.links.push_back(link);
        found.ops.push_back(link.op);
        found.written += link.elements;
        found.added += link.elements * link.new_part;
      }
    }
  }
  return found;
}

/// The share of `time` that writing only the new part saves, where at least `least` of it stays.
double saved(Duration time, double new_part, Duration least) {
  if (time <= least) return 0;
  const double floor = static_cast<double>(to_ns(least)) / static_cast<double>(to_ns(time));
  return 1.0 - std::max(new_part, floor);
}

/// Claims what copying old parts takes; returns the time of all of these calls.
Duration claim_copies(const RuleContext& rules, const Found& found, const NameSet& names,
                      Finding& finding) {
  const Trace& trace = rules.trace();
  std::map<SliceId, double> new_parts;
  for (const Link& link : found.links) new_parts[link.op] = link.new_part;
  Duration all{};
  const auto add = [&](SliceId work, double fraction) {
    finding.claims.push_back(claim(rules, work, fraction));
    finding.edits.scale.emplace_back(work, static_cast<float>(1.0 - fraction));
    all += finding.claims.back().whole;
  };
  if (rules.device < 0) {
    for (const Link& link : found.links) {
      const Duration time = trace.slices.duration[link.op.row()];
      const double fraction = saved(time, link.new_part, kOperatorCall);
      for (const SliceId inside : tree(rules, link.op)) add(inside, fraction);
    }
    return all;
  }
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const SliceId around = op.valid() ? enclosing(rules, op, names) : SliceId{};
    const auto at = around.valid() ? new_parts.find(around) : new_parts.end();
    if (at == new_parts.end()) return;
    add(activity, saved(trace.slices.duration[activity.row()], at->second, kShortestKernel));
  });
  return all;
}

Fix fix_of(bool training) {
  if (training) {
    return {.text =
                "Collect the parts in a list, and concatenate them once behind the loop. Caveat: "
                "only where nothing inside the loop needs the whole tensor; writing into a buffer "
                "that autograd has seen is an error there.",
            .before = "for part in parts(): out = torch.cat([out, part], dim=1)",
            .after = "out = torch.cat(list(parts()), dim=1)"};
  }
  return {.text =
              "Make the whole buffer once, and write each new part into its place; for keys and "
              "values of Hugging Face's models that is cache_implementation=\"static\". Caveats: "
              "the greatest length must be known, and the memory is taken from the start; who "
              "reads the buffer takes a view of its filled part, or a mask.",
          .before = "cache = torch.cat([cache, new], dim=1)  # in each step",
          .after =
              "cache = new.new_empty(batch, longest, width)  # once\n"
              "cache[:, n:n + new.shape[1]] = new; n += new.shape[1]\n"
              "filled = cache[:, :n]"};
}

/// Where shapes do not show what grows, but joining is most of what the main thread does.
Outcome without_shapes(const RuleContext& rules, const NameSet& names) {
  Blamed all;
  if (rules.device < 0) {
    for_each_work(rules, [&](SliceId work, SliceId op) {
      if (names.contains(rules.trace().slices.name[op.row()])) all.add(rules, work, op);
    });
  }
  if (rules.percent(all.time) < kMostPercent)
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  Finding finding;
  finding.key = "joining";
  finding.title = "Joining tensors (aten::cat) takes " + per_step(rules, all.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  claim_blamed(rules, all, kOldPart, finding);
  finding.assumption = "most of what is joined was there before";
  finding.pessimism = 0;
  finding.evidence.push_back(evidence_of(rules, all,
                                         counted_noun(all.activities.size(), "call") +
                                             "; whether one tensor grows is not recorded: use " +
                                             recording_with(rules.trace(), "record_shapes=True")));
  finding.counter_evidence = "Tensors that are all new have to be joined once.";
  finding.fix = {
      .text =
          "Where one tensor grows, make the whole buffer once, and write each new part into "
          "its place. Where parts are joined one after the other, collect them in a list, and "
          "join them once. Caveats: the greatest length must be known; a buffer that autograd "
          "has seen must not be written.",
      .before = "x = torch.cat([x, new])  # in each step",
      .after = "x = new.new_empty(longest, width)  # once\nx[n:n + len(new)] = new; n += len(new)"};
  finding.verify = "fathom ops TRACE --filter name=aten::cat";
  return std::vector<Finding>{std::move(finding)};
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const NameSet names(trace, [](std::string_view name) { return name == "aten::cat"; });
  if (!names.any()) return std::vector<Finding>{};
  if (!has_shapes(trace)) return without_shapes(rules, names);
  const Found found = look(rules, names);
  if (found.links.empty()) return std::vector<Finding>{};
  Finding finding;
  const Duration all = claim_copies(rules, found, names, finding);
  const Duration time = total(finding.claims);
  const bool few = found.links.size() < kLeastCalls;
  if (rules.percent(time) < (few ? kMuchPercent : kLeastPercent)) return std::vector<Finding>{};
  finding.title = "Tensors grow by torch.cat, which copies them each time: " + per_step(rules, all);
  finding.family = Family::memory_bandwidth;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(
      rules, found.ops,
      counted_noun(found.links.size(), "call") + " of aten::cat in " +
          counted_noun(found.chains, "chain") + ", each taking what the one before made: of " +
          count_text(static_cast<std::int64_t>(found.written)) + " elements that they write, " +
          percent_text(100 * found.added / found.written) + " are new"));
  finding.counter_evidence =
      "That one tensor grows is known from shapes alone; others of the same shape would look the "
      "same.";
  finding.fix = fix_of(is_training(rules));
  finding.verify = "fathom ops TRACE --filter name=aten::cat --group-by shape";
  finding.assumption = "only new elements are written; a kernel for them takes 2 us at least";
  finding.pessimism = 0.5;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace growing_tensors_rule

Rule growing_tensors() {
  return {.id = "growing-tensors",
          .title = "Tensors that grow by torch.cat",
          .doc = growing_tensors_rule::kDoc,
          .check = growing_tensors_rule::check};
}

}  // namespace fathom
