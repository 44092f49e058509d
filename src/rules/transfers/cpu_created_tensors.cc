// cpu-created-tensors: tensors made on the CPU, then moved to the device.
#include <algorithm>
#include <array>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
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
    "aten::to, aten::_to_copy or aten::copy_ that copies to it. Between the two lie only views, "
    "and "
    "at most 1 ms or, where that is longer, a twentieth of what making takes; what is done only "
    "once does not count there. What was filled in place must have the size of the copy. "
    "Counted are the copy, as far as nothing else runs, and the idle time from making to moving; "
    "where the device was not recorded, what the main thread spends from making to moving. "
    "Fires from 1 % of the step. In a program that runs on the processor making alone counts: "
    "fires where the main thread spends 20 % of the step on filling new tensors, and names the "
    "operator that takes most. Sources: PyTorch's tuning guide (create tensors on the device); "
    "TorchTidy's ExtraCUDACopy.";

constexpr double kLeastPercent = 1.0;
/// On the processor making tensors may be the work itself: only much of it is worth a word.
constexpr double kLeastPercentOfHost = 20.0;
/// A fill on the device takes the place of both.
constexpr float kLeft = 0.2F;
/// A number of any type has at most so many bytes.
constexpr std::int64_t kNumber = 8;
/// Operators between making and moving that are looked at.
constexpr std::size_t kNearby = 4;
/// Longer than this after making, something else was done: most likely another tensor is moved.
constexpr Duration kSoon = duration_ns(1'000'000);
/// A large tensor is followed less closely: memory is given back in between, and the first use of a
/// device is prepared before any call of it is recorded.
constexpr int kOfMaking = 20;

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
        making_(trace_, kMaking),
        views_(trace_, kViews),
        moving_(trace_, kMoving),
        copy_of_(trace_.slices.size(), SliceId::kNone),
        on_device_(trace_.slices.size()) {}

  std::vector<Move> find() {
    if (!making_.any()) return {};
    copies_ = rules_.device < 0 ? called_copies() : host_copies(rules_);
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
  /// Calls that copy, where what the device did was not recorded. That they copy to the device is
  /// concluded from a tensor that was made before.
  std::vector<HostCopy> called_copies() {
    const Links& links = rules_.context.links();
    std::vector<HostCopy> copies;
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      for (const SliceId call : thread.slices) {
        if (!is_runtime_call(trace_.kind(call))) continue;
        const CallKind kind = links.call_kind(trace_, call);
        if (!starts_activity(kind)) continue;
        for (SliceId at = call; at.valid() && !on_device_[at.row()];
             at = rules_.context.nesting().parent[at.row()])
          on_device_[at.row()] = true;
        if (kind != CallKind::copy && kind != CallKind::copy_blocking) continue;
        copies.push_back({.activity = {},
                          .launch = call,
                          .op = rules_.context.nesting().parent[call.row()],
                          .kind = CopyKind::h2d});
      }
    }
    return copies;
  }

  [[nodiscard]] StringId name(const UserOp& op) const { return trace_.slices.name[op.op.row()]; }

  /// Which operators copy to the device, and which start anything on it.
  void mark() {
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    for_each_activity(rules_, [&](SliceId, SliceId op) {
      for (SliceId at = op; at.valid() && !on_device_[at.row()]; at = parent[at.row()]) {
        on_device_[at.row()] = true;
      }
    });
    // The last copy inside counts. What has one is inside of what has one.
    for (std::size_t i = copies_.size(); i-- > 0;) {
      if (copies_[i].kind != CopyKind::h2d) continue;
      for (SliceId at = copies_[i].op; at.valid() && copy_of_[at.row()] == SliceId::kNone;
           at = parent[at.row()]) {
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

  /// The time from the end of making to moving, less what is done only once: that a device is used
  /// for the first time there makes it no other tensor.
  [[nodiscard]] Duration between(SliceId made, SliceId moved) const {
    const Interval gap{trace_.slices.end(made), trace_.slices.start[moved.row()]};
    Duration time{};
    if (gap.begin >= gap.end) return time;
    rules_.accounting.one_off.cut(trace_.slices.track[moved.row()], gap,
                                  [&time](const Interval& part, bool once) {
                                    if (!once) time += part.length();
                                  });
    return time;
  }

  /// Can the copy be of what was made? Parameters that are initialised, then moved with their
  /// model, look like it but for their size: filling in place counts only where that is known.
  [[nodiscard]] bool may_be(SliceId made, SliceId moved, const HostCopy& copy) const {
    const Duration soon = std::max(kSoon, trace_.slices.duration[made.row()] / kOfMaking);
    if (between(made, moved) > soon) return false;
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

/// ", 12 of them single numbers", or "".
std::string numbers_text(const std::vector<HostCopy>& copies) {
  const auto numbers = std::ranges::count_if(
      copies, [](const HostCopy& copy) { return copy.bytes > 0 && copy.bytes <= kNumber; });
  return numbers == 0 ? "" : ", " + count_text(numbers) + " of them single numbers";
}

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
    return {
        .text =
            "What comes from Python's numbers has to be copied: pass plain numbers to operators "
            "where they take them, join such tensors and copy once, and keep what stays the "
            "same on the device (register_buffer).",
        .before = "scale = torch.tensor(0.5).to(device)  # in each step",
        .after = "self.register_buffer('scale', torch.tensor(0.5), persistent=False)"};
  }
  return {.text = "Make it where it is used; make constants once (register_buffer).",
          .before = "mask = torch.ones(n, n).tril().to(device)",
          .after = "mask = torch.ones(n, n, device=device).tril()"};
}

/// Fills memory with new content, of which a program may need less; gradients that are zeroed and
/// tensors made of Python's numbers are others' findings.
bool fills_anew(std::string_view op) {
  return op != "aten::zero_" && op != "aten::fill_" && op != "aten::lift_fresh" &&
         std::ranges::find(kMaking, op) != kMaking.end();
}

Fix fix_of_host(const RuleContext& rules, std::string_view made) {
  Fix fix;
  const bool random = is_random(made);
  fix.text = random
                 ? "Draw once what need not be new in each step, and the rest where nobody waits "
                   "for it: in the loader's workers"
                 : "Make it once and keep it (register_buffer), or write into the same memory "
                   "each time (out=)";
  if (unused_device(rules) != nullptr) fix.text += "; or on the device, with the model there, too";
  fix.text += random ? ". Caveat: another order of drawing gives other numbers for the same seed."
                     : ". Caveat: what is kept must not be changed in place.";
  fix.before = random ? "for step in range(n): model(torch.randn(shape))"
                      : "for step in range(n): model(x, torch.zeros(shape))";
  fix.after = random ? "noise = torch.randn(shape)  # once\nfor step in range(n): model(noise)"
                     : "zeros = torch.zeros(shape)  # once\nfor step in range(n): model(x, zeros)";
  return fix;
}

/// Without a device: what the main thread spends on making tensors.
Outcome check_host(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const NameSet making(trace, fills_anew);
  if (!making.any()) return std::vector<Finding>{};
  const Phases& phases = rules.context.phases();
  const UserOps user_ops(rules);
  std::vector<SliceId> made;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (thread.track != rules.accounting.main_thread) continue;
    for (const UserOp& op : user_ops.of(thread)) {
      const bool loads = phases[op.op] == Phase::data || phases[op.op] == Phase::optimizer;
      if (making.contains(trace.slices.name[op.op.row()]) && !loads) made.push_back(op.op);
    }
  }
  Finding finding;
  claim_host_work(rules, made, 1.0, finding.claims);
  const Duration time = total(finding.claims);
  if (rules.percent(time) < kLeastPercentOfHost) return std::vector<Finding>{};
  const std::string_view longest = trace.name(costliest(trace, made).front());
  finding.key = "host";
  finding.title =
      "Making tensors takes " + per_step(rules, time) + ", most of it " + std::string(longest);
  finding.family = Family::host;
  finding.weight = weight_of(rules, time, 20, 50);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, made, counted_noun(made.size(), "call") + " that fill new tensors on the processor"));
  finding.counter_evidence =
      "Where each step needs new random numbers or buffers, this is work and no waste.";
  finding.fix = fix_of_host(rules, longest);
  finding.verify = "fathom ops TRACE --sort -host_self_ns";
  scale_trees(rules, made, 0.5F, finding.edits);
  finding.assumption = "half of it need not be made in each step";
  finding.pessimism = 0.1;
  return std::vector<Finding>{std::move(finding)};
}

/// What findings say that were made from such moves, once they have their claims.
void name_finding(const RuleContext& rules, const Move& like, Finding& finding) {
  finding.title =
      "Tensors are made on the CPU, then moved: " + per_step(rules, whole(finding.claims));
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, total(finding.claims), 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.fix = fix_of(rules.trace().name(like.made));
  finding.pessimism = 0.4;
}

/// Without the device's part: what the main thread spends from making to moving, of which a fifth
/// is left.
Outcome check_calls(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const std::vector<Move> moves = Finder(rules).find();
  if (moves.empty()) return Abstention{"no device activity was recorded"};
  Finding finding;
  std::vector<SliceId> moved;
  for (const Move& move : moves) {
    const Interval stretch{trace.slices.start[move.made.row()], trace.slices.end(move.moved)};
    claim_main_thread(
        rules, stretch,
        {HostBucket::forward, HostBucket::other_operators, HostBucket::waiting, HostBucket::python},
        finding.claims);
    scale_tree(rules, move.made, kLeft, finding.edits);
    scale_tree(rules, move.moved, kLeft, finding.edits);
    moved.push_back(move.made);
    moved.push_back(move.moved);
  }
  for (Claim& claim : finding.claims) {
    claim.whole = claim.time;
    claim.time = duration_ns(
        static_cast<std::int64_t>(static_cast<double>(to_ns(claim.time)) * (1.0 - kLeft)));
  }
  const Duration time = total(finding.claims);
  if (rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  name_finding(rules, moves.front(), finding);
  finding.evidence.push_back(evidence_of(rules, moved,
                                         counted_noun(moves.size(), "tensor") + " of " +
                                             std::string(trace.name(moves.front().made)) +
                                             " and the like, each followed by a call that copies"));
  finding.counter_evidence =
      "What the device did was not recorded: it may have been busy meanwhile, and then the host's "
      "time costs less.";
  finding.verify = "fathom ops TRACE";
  finding.assumption = "a fifth of the host's time is left, and the device does not limit the step";
  return std::vector<Finding>{std::move(finding)};
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) {
    const bool moved = rules.context.links().launches_without_activity > 0;
    return moved && device_unrecorded(rules) ? check_calls(rules) : check_host(rules);
  }
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
  name_finding(rules, moves.front(), finding);
  finding.evidence.push_back(evidence_of(
      rules, copies,
      volume_text(copies) + " of tensors that " + std::string(trace.name(moves.front().made)) +
          " and the like had made just before" + numbers_text(copies)));
  finding.counter_evidence =
      "Random numbers made on the device differ from those made on the CPU with the same seed; a "
      "constant that never changes had better be kept there.";
  finding.verify = "fathom copies TRACE";
  finding.assumption = "a fifth of the host's time is left, and a short kernel instead of the copy";
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
