// cpu-created-tensors: tensors made on the CPU, then moved to the device.
#include <algorithm>
#include <array>

#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/common/names.h"
#include "rules/common/user_ops.h"
#include "rules/rule.h"

namespace fathom {
namespace cpu_created_tensors_rule {
namespace {

constexpr std::string_view kDoc =
    "torch.zeros(n).to(device) fills memory on the host, then copies it, and the copy of pageable "
    "memory blocks; torch.zeros(n, device=device) is one short kernel. Found is an operator that "
    "makes a tensor (zeros, ones, full, rand, randn, arange, linspace, eye, torch.tensor, or empty "
    "and a filling one) and starts nothing on the device, followed under the same parent by "
    "aten::to, aten::_to_copy or aten::copy_ that copies to it within 1 ms; only views may lie "
    "between, and what was filled in place must have the size of the copy. "
    "Counted are the copy, as far as nothing else runs, and the idle time from making to moving. "
    "Fires from 1 % of the step. Sources: PyTorch's tuning guide (create tensors on the device); "
    "TorchTidy's ExtraCUDACopy.";

constexpr double kLeastPercent = 1.0;
/// A fill on the device takes the place of both.
constexpr float kLeft = 0.2F;
/// Operators between making and moving that are looked at.
constexpr std::size_t kNearby = 4;
/// Longer than this after making, something else was done: most likely another tensor is moved.
constexpr Duration kSoon = duration_ns(1'000'000);

constexpr auto kMaking = std::to_array<std::string_view>(
    {"aten::zeros",        "aten::ones",         "aten::full",          "aten::zeros_like",
     "aten::ones_like",    "aten::full_like",    "aten::rand",          "aten::randn",
     "aten::randint",      "aten::randperm",     "aten::rand_like",     "aten::randn_like",
     "aten::arange",       "aten::linspace",     "aten::logspace",      "aten::eye",
     "aten::tril_indices", "aten::triu_indices", "aten::scalar_tensor", "aten::lift_fresh",
     "aten::normal_",      "aten::uniform_",     "aten::fill_",         "aten::zero_",
     "aten::random_",      "aten::bernoulli_",   "aten::new_zeros",     "aten::new_ones",
     "aten::new_full",     "aten::tril",         "aten::triu"});
constexpr auto kViews = std::to_array<std::string_view>(
    {"aten::view", "aten::reshape", "aten::unsqueeze", "aten::squeeze", "aten::expand",
     "aten::detach", "aten::detach_", "aten::t", "aten::transpose", "aten::permute",
     "aten::requires_grad_", "aten::to", "aten::alias", "aten::empty", "aten::pin_memory"});
constexpr auto kMoving =
    std::to_array<std::string_view>({"aten::to", "aten::_to_copy", "aten::copy_"});

template <std::size_t Size>
NameSet set_of(const Trace& trace, const std::array<std::string_view, Size>& names) {
  return {trace, [&names](std::string_view name) {
            return std::ranges::find(names, name) != names.end();
          }};
}

/// These fill what exists; they say so with a trailing underscore.
bool fills_in_place(std::string_view name) { return name.ends_with("_"); }

/// Elements of the first tensor in "[[2,3],[]]".
std::int64_t first_elements(std::string_view shapes) {
  std::int64_t product = 1;
  std::int64_t number = 0;
  for (const char c : shapes.substr(std::min<std::size_t>(2, shapes.size()))) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
    } else {
      product *= number;
      number = 0;
      if (c != ',') break;
    }
  }
  return product;
}

struct Move {
  SliceId made;   // The operator that makes the tensor.
  SliceId moved;  // The one that moves it.
  HostCopy copy;
};

class Finder {
 public:
  explicit Finder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        making_(set_of(trace_, kMaking)),
        views_(set_of(trace_, kViews)),
        moving_(set_of(trace_, kMoving)),
        copy_of_(trace_.slices.size(), SliceId::kNone),
        on_device_(trace_.slices.size()) {}

  std::vector<Move> find() {
    if (!making_.any()) return {};
    copies_ = host_copies(rules_);
    mark();
    std::vector<Move> moves;
    const UserOps user_ops(rules_);
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      const std::vector<UserOp> ops = user_ops.of(thread);
      for (std::size_t at = 0; at < ops.size(); ++at) {
        const std::uint32_t copy = copy_of_[ops[at].op.row()];
        if (copy == SliceId::kNone || !moving_.contains(name(ops[at]))) continue;
        const SliceId made = maker(ops, at);
        if (made.valid() && may_be(made, ops[at].op, copies_[copy])) {
          moves.push_back({made, ops[at].op, copies_[copy]});
        }
      }
    }
    return moves;
  }

 private:
  [[nodiscard]] StringId name(const UserOp& op) const { return trace_.slices.name[op.op.row()]; }

  /// Which operators copy to the device, and which start anything on it.
  void mark() {
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    for_each_activity(rules_, [&](SliceId, SliceId op) {
      for (SliceId at = op; at.valid() && !on_device_[at.row()]; at = parent[at.row()]) {
        on_device_[at.row()] = true;
      }
    });
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (copies_[i].kind != CopyKind::h2d) continue;
      for (SliceId at = copies_[i].op; at.valid(); at = parent[at.row()]) {
        copy_of_[at.row()] = static_cast<std::uint32_t>(i);
      }
    }
  }

  /// The operator before `at` that makes what is moved there, or invalid.
  [[nodiscard]] SliceId maker(const std::vector<UserOp>& ops, std::size_t at) const {
    for (std::size_t back = 1; back <= std::min(kNearby, at); ++back) {
      const UserOp& before = ops[at - back];
      if (before.parent != ops[at].parent || on_device_[before.op.row()]) return {};
      if (making_.contains(name(before))) return before.op;
      if (!views_.contains(name(before))) return {};
    }
    return {};
  }

  /// Can the copy be of what was made? Parameters that are initialised, then moved with their
  /// model, look like it but for their size: filling in place counts only where that is known.
  [[nodiscard]] bool may_be(SliceId made, SliceId moved, const HostCopy& copy) const {
    if (trace_.slices.start[moved.row()] - trace_.slices.end(made) > kSoon) return false;
    if (!fills_in_place(trace_.name(made))) return true;
    const Signature* const signature = signature_of(trace_, made);
    if (signature == nullptr || !signature->shapes.valid() || copy.bytes <= 0) return false;
    const std::int64_t elements = first_elements(trace_.text(signature->shapes));
    return elements > 0 && copy.bytes % elements == 0 && copy.bytes / elements <= 16;
  }

  const RuleContext& rules_;
  const Trace& trace_;
  NameSet making_;
  NameSet views_;
  NameSet moving_;
  std::vector<HostCopy> copies_;
  std::vector<std::uint32_t> copy_of_;  // By slice: row of copies_.
  std::vector<bool> on_device_;         // By slice: it or its children start an activity.
};

bool is_random(std::string_view op) {
  return op.find("rand") != op.npos || op == "aten::normal_" || op == "aten::uniform_" ||
         op == "aten::bernoulli_";
}

Fix fix_of(std::string_view made) {
  if (is_random(made)) {
    return {.text =
                "Make it where it is used. Caveat: with the same seed the device draws other "
                "numbers than the CPU; draw there only what need not be repeated exactly.",
            .before = "noise = torch.randn(shape).to(device)",
            .after = "noise = torch.randn(shape, device=device)"};
  }
  if (made == "aten::lift_fresh") {
    return {.text =
                "What comes from Python's numbers has to be copied: join such tensors, copy once, "
                "and keep what stays the same on the device (register_buffer).",
            .before = "scale = torch.tensor(0.5).to(device)  # in each step",
            .after = "self.register_buffer('scale', torch.tensor(0.5), persistent=False)"};
  }
  return {.text = "Make it where it is used; make constants once (register_buffer).",
          .before = "mask = torch.ones(n, n).tril().to(device)",
          .after = "mask = torch.ones(n, n, device=device).tril()"};
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Trace& trace = rules.trace();
  const std::vector<Move> moves = Finder(rules).find();
  Finding finding;
  std::vector<HostCopy> copies;
  std::vector<Interval> stretches;
  for (const Move& move : moves) {
    copies.push_back(move.copy);
    finding.claims.push_back(claim(rules, move.copy.activity));
    finding.edits.scale.emplace_back(move.copy.activity, kLeft);
    if (move.copy.launch.valid()) finding.edits.no_wait.push_back(move.copy.launch);
    scale_tree(rules, move.made, kLeft, finding.edits);
    scale_tree(rules, move.moved, kLeft, finding.edits);
    stretches.push_back({trace.slices.start[move.made.row()], trace.slices.end(move.moved)});
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    claim_idle(rules, stretch, kHostLate, finding.claims, 1.0 - kLeft);
  }
  const Duration time = total(finding.claims);
  if (moves.empty() || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title =
      "Tensors are made on the CPU, then moved: " + per_step(rules, whole(finding.claims));
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(rules, copies,
                                         volume_text(copies) + " of tensors that " +
                                             std::string(trace.name(moves.front().made)) +
                                             " and the like had made just before"));
  finding.counter_evidence =
      "Random numbers made on the device differ from those made on the CPU with the same seed; a "
      "constant that never changes had better be kept there.";
  finding.fix = fix_of(trace.name(moves.front().made));
  finding.verify = "fathom copies TRACE";
  finding.assumption = "a fifth of the host's time is left, and a short kernel instead of the copy";
  finding.pessimism = 0.4;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace cpu_created_tensors_rule

Rule cpu_created_tensors() {
  return {.id = "cpu-created-tensors",
          .title = "Tensors made on the CPU, then moved",
          .doc = cpu_created_tensors_rule::kDoc,
          .check = cpu_created_tensors_rule::check};
}

}  // namespace fathom
