// python-loop: a Python loop over the slices of a tensor.
#include <algorithm>
#include <array>
#include <map>

#include "rules/stretches.h"
#include "rules/user_ops.h"

namespace fathom {
namespace {

constexpr std::string_view kDoc =
    "for row in x, or x[i] in a loop, calls the same few operators on each slice: each costs "
    "microseconds of Python and dispatch and a kernel of its own, whatever little it computes. "
    "Found is a block of operators that begins with aten::select, aten::slice, aten::narrow or "
    "aten::index (or follows aten::unbind) and comes at least 10 times in a row under one parent, "
    "in one step, each time of another slice; where values were not recorded, blocks of more than "
    "8 "
    "operators are taken for layers. What aten:: operators call themselves does not count. Counted "
    "is the "
    "device's idle time during the loop; without a device its host time, less what an operator "
    "computes beyond 5 us in the median round, as that stays in a batched one. Fires from 1 % of "
    "the step. Source: "
    "TorchTidy's ForLoopIndexing (10 times).";

constexpr double kLeastPercent = 1.0;
constexpr std::size_t kLeastRounds = 10;
/// The longest block, in slicing operators: a[i], b[i] in one round are two.
constexpr std::size_t kMostPeriods = 4;
/// The longest block behind aten::unbind, in operators.
constexpr std::size_t kMostOps = 16;
/// The longest block whose slices are not known to differ: longer ones are layers of a model.
constexpr std::size_t kMostUnknown = 8;
/// What calling an operator costs, without its work.
constexpr Duration kCall = duration_ns(5'000);

constexpr auto kSlicing =
    std::to_array<std::string_view>({"aten::select", "aten::slice", "aten::narrow", "aten::index"});

bool is_slicing(std::string_view name) {
  return std::ranges::find(kSlicing, name) != kSlicing.end();
}
bool is_unbind(std::string_view name) { return name == "aten::unbind"; }

using Ops = std::vector<UserOp>;

/// Operators [first, last) of a thread that are the same block, `rounds` times.
struct Loop {
  std::size_t begin = 0;  // What is not called without the loop: with the unbind before it.
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t rounds = 0;
  std::size_t joined = SIZE_MAX;  // What puts the rounds' results together, if anything does.
};

bool is_joining(std::string_view name) { return name == "aten::stack" || name == "aten::cat"; }

bool together(const UserOp& a, const UserOp& b) { return a.parent == b.parent && a.step == b.step; }

/// A slicing operator and what follows it, up to the next one.
struct Block {
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t names = 0;  // Hash of the names.
};

class Finder {
 public:
  Finder(const RuleContext& rules, const Ops& ops)
      : trace_(rules.trace()),
        ops_(ops),
        slicing_(trace_, is_slicing),
        unbind_(trace_, is_unbind),
        joining_(trace_, is_joining) {}

  std::vector<Loop> find() {
    if (slicing_.any()) find_slicing();
    if (unbind_.any()) find_unbinding();
    for (Loop& loop : loops_) loop.joined = joined(loop);
    return std::move(loops_);
  }

 private:
  [[nodiscard]] StringId name(std::size_t at) const {
    return trace_.slices.name[ops_[at].op.row()];
  }

  [[nodiscard]] std::vector<Block> blocks() const {
    std::vector<Block> found;
    for (std::size_t at = 0; at < ops_.size(); ++at) {
      const bool begins = slicing_.contains(name(at));
      if (begins) found.push_back({.first = at, .last = at, .names = 0});
      if (found.empty() || found.back().last != at || !together(ops_[at], ops_[found.back().first]))
        continue;
      found.back().last = at + 1;
      found.back().names = found.back().names * 1'099'511'628'211U + name(at).row() + 1;
    }
    return found;
  }

  [[nodiscard]] bool equal(const Block& a, const Block& b) const {
    return a.names == b.names && a.last - a.first == b.last - b.first &&
           together(ops_[a.first], ops_[b.first]);
  }

  /// What the slicing operator was called with, as far as it was recorded.
  [[nodiscard]] std::pair<StringId, StringId> arguments(const Block& block) const {
    const Signature* const signature = signature_of(trace_, ops_[block.first].op);
    if (signature == nullptr) return {};
    return {signature->shapes, signature->concrete};
  }

  /// aten::index slices by tensors, whose values no trace holds.
  [[nodiscard]] bool by_tensor(const Block& block) const {
    return trace_.text(name(block.first)) == "aten::index";
  }

  /// Does each round take another slice of one tensor? A layer takes the same one of its own.
  [[nodiscard]] bool over_slices(const std::vector<Block>& all, std::size_t begin, std::size_t end,
                                 std::size_t rounds) const {
    const std::size_t period = (end - begin) / rounds;
    for (std::size_t offset = 0; offset < period; ++offset) {
      std::size_t changes = 0;
      bool known = !by_tensor(all[begin + offset]);
      for (std::size_t at = begin + offset + period; at < end; at += period) {
        const auto [shapes, values] = arguments(all[at]);
        const auto [shapes_before, values_before] = arguments(all[at - period]);
        known = known && values.valid() && values_before.valid();
        if (shapes == shapes_before && values != values_before) ++changes;
      }
      if (known && 2 * changes >= rounds) return true;
      if (known) continue;
      const std::size_t size = (all[end - 1].last - all[begin].first) / rounds;
      if (size <= kMostUnknown) return true;
    }
    return false;
  }

  void find_slicing() {
    const std::vector<Block> all = blocks();
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t best = begin;
      std::size_t rounds = 0;
      for (std::size_t period = 1; period <= kMostPeriods && rounds < kLeastRounds; ++period) {
        std::size_t at = begin + period;
        // The last round ends where the loop does: what follows it is part of its last block.
        while (at < all.size() && all[at].first == all[at - 1].last &&
               equal(all[at], all[at - period])) {
          ++at;
        }
        best = at;
        rounds = (at - begin) / period;
      }
      if (rounds < kLeastRounds) {
        ++begin;
        continue;
      }
      if (over_slices(all, begin, best, rounds)) {
        loops_.push_back({.begin = all[begin].first,
                          .first = all[begin].first,
                          .last = all[best - 1].last,
                          .rounds = rounds});
      }
      begin = best;
    }
  }

  void find_unbinding() {
    std::size_t covered = 0;
    for (std::size_t at = 0; at < ops_.size(); ++at) {
      if (at < covered || !unbind_.contains(name(at))) continue;
      for (std::size_t period = 1; period <= kMostOps; ++period) {
        std::size_t end = at + 1 + period;
        while (end < ops_.size() && together(ops_[end], ops_[at]) &&
               name(end) == name(end - period) && !unbind_.contains(name(end))) {
          ++end;
        }
        const std::size_t rounds = (end - at - 1) / period;
        if (rounds < kLeastRounds) continue;
        loops_.push_back({.begin = at, .first = at + 1, .last = end, .rounds = rounds});
        covered = end;
        break;
      }
    }
  }

  /// The last round may be told apart from the others because it ends with this.
  [[nodiscard]] std::size_t joined(const Loop& loop) const {
    const std::size_t round = (loop.last - loop.first) / loop.rounds;
    for (std::size_t at = loop.last; at < std::min(ops_.size(), loop.last + round + 1); ++at) {
      if (!together(ops_[at], ops_[loop.first])) break;
      if (joining_.contains(name(at))) return at;
    }
    return SIZE_MAX;
  }

  const Trace& trace_;
  const Ops& ops_;
  NameSet slicing_;
  NameSet unbind_;
  NameSet joining_;
  std::vector<Loop> loops_;
};

/// Loops of one call site.
struct Site {
  std::vector<SliceId> firsts;  // The first operator of each loop.
  std::vector<Claim> claims;
  Edits edits;
  std::string block;
  std::size_t rounds = 0;
  Duration spent{};
};

/// Operators of a block that its title names.
constexpr std::size_t kNamed = 5;

std::string block_text(const Trace& trace, const Ops& ops, const Loop& loop) {
  std::string text;
  const std::size_t whole = (loop.last - loop.first) / loop.rounds;
  const std::size_t size = std::min(whole, kNamed);
  for (std::size_t i = 0; i < size; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(trace.name(ops[loop.first + i].op));
  }
  return text + (whole > size ? ", …" : "");
}

/// Without a device: what the operators of each name compute in a typical round, beyond being
/// called.
std::map<StringId, Duration> computing(const RuleContext& rules, const Ops& ops, const Loop& loop) {
  std::map<StringId, std::vector<Duration>> own;
  for (std::size_t i = loop.first; i < loop.last; ++i) {
    for (const SliceId inside : tree(rules, ops[i].op)) {
      own[rules.trace().slices.name[inside.row()]].push_back(rules.self_times[inside.row()]);
    }
  }
  std::map<StringId, Duration> typical;
  for (auto& [name, times] : own) {
    typical[name] = std::max(median_of(std::move(times)) - kCall, Duration{});
  }
  return typical;
}

/// Without a device: what calling costs, of each operator in the loop and between them. Taking
/// slices and putting results together is all for the loop.
void claim_calls(const RuleContext& rules, const Ops& ops, const Loop& loop, double removed,
                 Site& site) {
  const auto all_of = [&](SliceId op) {
    for (const SliceId inside : tree(rules, op)) {
      site.claims.push_back(claim(rules, inside));
      site.edits.scale.emplace_back(inside, 0.0F);
    }
  };
  if (loop.joined != SIZE_MAX) all_of(ops[loop.joined].op);
  const std::map<StringId, Duration> computes = computing(rules, ops, loop);
  for (std::size_t i = loop.begin; i < loop.last; ++i) {
    const std::string_view name = rules.trace().name(ops[i].op);
    if (is_unbind(name) || is_slicing(name)) {
      all_of(ops[i].op);
      continue;
    }
    for (const SliceId inside : tree(rules, ops[i].op)) {
      const Duration own = rules.self_times[inside.row()];
      if (own <= Duration{}) continue;
      const Duration stays = std::min(own, computes.at(rules.trace().slices.name[inside.row()]));
      const double part =
          removed * static_cast<double>(to_ns(own - stays)) / static_cast<double>(to_ns(own));
      site.claims.push_back(claim(rules, inside, part));
      site.edits.scale.emplace_back(inside, static_cast<float>(1.0 - part));
    }
  }
}

void add(const RuleContext& rules, const Ops& ops, const Loop& loop, Site& site) {
  const Trace& trace = rules.trace();
  const Interval stretch{trace.slices.start[ops[loop.begin].op.row()],
                         trace.slices.end(ops[loop.last - 1].op)};
  const double removed = 1.0 - 1.0 / static_cast<double>(loop.rounds);
  site.firsts.push_back(ops[loop.first].op);
  site.rounds += loop.rounds;
  site.spent += stretch.length();
  site.block = block_text(trace, ops, loop);
  if (rules.device >= 0) {
    claim_idle(rules, stretch, kHostLate, site.claims, removed);
    for (std::size_t i = loop.begin; i < loop.last; ++i) {
      scale_tree(rules, ops[i].op, static_cast<float>(1.0 - removed), site.edits);
    }
    return;
  }
  claim_calls(rules, ops, loop, removed, site);
  RemovedTime between(rules);
  const auto most = static_cast<double>(to_ns(stretch.length())) * removed;
  claim_main_thread(rules, stretch, {HostBucket::python}, site.claims, &between,
                    duration_ns(static_cast<std::int64_t>(most)));
  between.to(site.edits);
}

std::map<std::string, Site> look(const RuleContext& rules) {
  std::map<std::string, Site> sites;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (rules.device < 0 && thread.track != rules.accounting.main_thread) continue;
    const Ops ops = user_ops(rules, thread);
    for (const Loop& loop : Finder(rules, ops).find()) {
      std::string place = rules.sites.of(ops[loop.first].op);
      if (place.empty()) place = block_text(rules.trace(), ops, loop);
      add(rules, ops, loop, sites[place]);
    }
  }
  return sites;
}

Finding make(const RuleContext& rules, const std::string& key, Site& site) {
  const Duration time = total(site.claims);
  Finding finding;
  finding.key = key;
  finding.title = "A Python loop over slices (" + site.block + "): " + per_step(rules, time);
  finding.family = Family::host;
  finding.weight = weight_of(rules, time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(rules, site.firsts,
                                         counted_noun(site.rounds, "round") +
                                             " of the same operators in " +
                                             counted_noun(site.firsts.size(), "loop") + ", " +
                                             per_step(rules, site.spent) + " in all"));
  finding.counter_evidence =
      "Where a round needs the result of the one before (a recurrence), the loop cannot be "
      "batched; then compile it or use a scan.";
  finding.fix = {.text =
                     "Work on the whole tensor: batched products (bmm, einsum), broadcasting, "
                     "torch.vmap for a function of one slice, nested tensors or padding for "
                     "slices of several lengths. Caveat: takes memory for all slices at once.",
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
  std::map<std::string, Site> sites = look(rules);
  std::vector<Finding> findings;
  for (auto& [place, site] : sites) {
    if (rules.percent(total(site.claims)) < kLeastPercent) continue;
    findings.push_back(make(rules, place, site));
  }
  return findings;
}

}  // namespace

Rule python_loop() {
  return {.id = "python-loop", .title = "A Python loop over slices", .doc = kDoc, .check = check};
}

}  // namespace fathom
