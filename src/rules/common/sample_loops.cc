// Finds blocks of operators that repeat, and asks their shapes what they go through.
#include "rules/common/sample_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/roofline/op_arguments.h"
#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/backward_nodes.h"
#include "rules/common/batch.h"
#include "rules/common/counted.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/common/slice_loops.h"
#include "rules/common/user_ops.h"

namespace fathom {
namespace {

constexpr std::size_t kLeastRounds = 8;
/// The longest block, in operators.
constexpr std::size_t kLongestBlock = 24;

using Ops = std::vector<UserOp>;

/// Operators [first, last) of a thread: the same block again and again.
struct Loop {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t block = 0;
  [[nodiscard]] std::size_t rounds() const { return (last - first) / block; }
};

bool multiplies(std::string_view name) {
  return is_product(name) || name == "aten::linear" || name == "aten::matmul" ||
         name.find("conv") != std::string_view::npos ||
         name.find("attention") != std::string_view::npos ||
         name.find("norm") != std::string_view::npos;
}

class Finder {
 public:
  explicit Finder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        user_ops_(rules),
        slicing_(trace_, takes_slices),
        products_(trace_, multiplies),
        shapes_(has_shapes(trace_)) {}

  SampleLoops find() {
    SampleLoops found{.stretches = {}, .known = shapes_};
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (rules_.device < 0 && thread.track != rules_.accounting.main_thread) continue;
      const Ops ops = that_may_grow(user_ops_.of(thread));
      for (const Loop& loop : loops(ops)) {
        if (!is_candidate(ops, loop) || (shapes_ && !goes_through_samples(ops, loop))) continue;
        add(ops, loop, found.stretches);
      }
    }
    found.stretches = merged(std::move(found.stretches));
    for (const Interval& stretch : found.stretches) found.time += rules_.counted(stretch);
    return found;
  }

 private:
  /// Without those of the optimizer, of fetches and of the backward pass.
  [[nodiscard]] Ops that_may_grow(Ops ops) const {
    const Phases& phases = rules_.context.phases();
    std::erase_if(ops, [&phases](const UserOp& each) {
      const Phase phase = phases[each.op];
      return phase == Phase::optimizer || phase == Phase::data || phase == Phase::backward;
    });
    return ops;
  }

  [[nodiscard]] StringId name(const Ops& ops, std::size_t at) const {
    return trace_.slices.name[ops[at].op.row()];
  }

  [[nodiscard]] std::vector<Loop> loops(const Ops& ops) const {
    std::vector<Loop> found;
    for (std::size_t at = 0; at < ops.size();) {
      std::size_t next = at + 1;
      for (std::size_t block = 1; block <= kLongestBlock; ++block) {
        std::size_t end = at + block;
        while (end < ops.size() && name(ops, end) == name(ops, end - block) &&
               ops[end].parent == ops[at].parent && ops[end].step == ops[at].step) {
          ++end;
        }
        const Loop loop{.first = at, .last = end, .block = block};
        if (loop.rounds() < kLeastRounds) continue;
        found.push_back(loop);
        next = end;
        break;
      }
      at = next;
    }
    return found;
  }

  /// By names alone, so that a recording without shapes has no fewer of them.
  [[nodiscard]] bool is_candidate(const Ops& ops, const Loop& loop) const {
    bool product = false;
    for (std::size_t at = loop.first; at < loop.first + loop.block; ++at) {
      if (slicing_.contains(name(ops, at))) return true;
      product = product || products_.contains(name(ops, at));
    }
    return !product;
  }

  [[nodiscard]] bool goes_through_samples(const Ops& ops, const Loop& loop) {
    bool slices = false;
    for (std::size_t at = loop.first; at < loop.first + loop.block; ++at) {
      if (!slicing_.contains(name(ops, at))) continue;
      slices = true;
      if (goes_through_samples(ops[at].op, loop.rounds())) return true;
    }
    return !slices && comes_per_sample(ops, loop);
  }

  /// Does a loop of so many rounds take each slice of the batch?
  [[nodiscard]] bool goes_through_samples(SliceId op, std::size_t rounds) {
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr || !signature->shapes.valid() || !signature->types.valid())
      return false;
    const OpArguments arguments(
        trace_.text(signature->shapes), trace_.text(signature->types),
        signature->concrete.valid() ? trace_.text(signature->concrete) : std::string_view());
    const TensorArgument* const from = arguments.tensor(0);
    if (from == nullptr || from->dims.empty()) return false;
    const auto rank = static_cast<std::int64_t>(from->dims.size());
    // By tensors of indices, or where values were not recorded: of the first dimension.
    std::int64_t dimension = 0;
    if (const auto given = arguments.integers(1); given && given->size() == 1)
      dimension = given->front() < 0 ? given->front() + rank : given->front();
    if (dimension < 0 || dimension >= rank) return false;
    const std::int64_t extent = from->dims[static_cast<std::size_t>(dimension)];
    if (extent < 2 || 2 * static_cast<std::int64_t>(rounds) < extent) return false;
    const std::int64_t batch = samples();
    if (extent == batch) return true;
    // The first dimension may be time, where another one is the batch.
    return dimension == 0 &&
           (batch < 2 || std::ranges::find(from->dims, batch) == from->dims.end());
  }

  /// Does the block, always with the same shapes, come once or several times for each sample?
  [[nodiscard]] bool comes_per_sample(const Ops& ops, const Loop& loop) {
    const auto batch = static_cast<std::size_t>(samples());
    if (batch < kLeastRounds || loop.rounds() % batch != 0) return false;
    for (std::size_t at = loop.first + loop.block; at < loop.last; ++at) {
      const Signature* const before = signature_of(trace_, ops[at - loop.block].op);
      const Signature* const own = signature_of(trace_, ops[at].op);
      if (own == nullptr || before == nullptr || own->shapes != before->shapes) return false;
    }
    return true;
  }

  /// Of a step; 0 where it is not known.
  [[nodiscard]] std::int64_t samples() {
    if (!batch_) {
      const std::optional<Batch> batch = find_batch(rules_);
      batch_ = batch && batch->samples ? std::llround(*batch->samples) : 0;
    }
    return *batch_;
  }

  void add(const Ops& ops, const Loop& loop, std::vector<Interval>& stretches) {
    stretches.push_back(
        {trace_.slices.start[ops[loop.first].op.row()], trace_.slices.end(ops[loop.last - 1].op)});
    if (!backward_) backward_.emplace(rules_);
    for (std::size_t at = loop.first; at < loop.last; ++at) {
      for (const SliceId node : backward_->of(ops[at].op))
        stretches.push_back(interval_of(trace_, node));
    }
  }

  const RuleContext& rules_;
  const Trace& trace_;
  const UserOps user_ops_;
  const NameSet slicing_;
  const NameSet products_;
  const bool shapes_;
  std::optional<BackwardNodes> backward_;
  std::optional<std::int64_t> batch_;
};

}  // namespace

bool SampleLoops::hold(Time moment) const {
  const auto after = std::ranges::upper_bound(stretches, moment, {}, &Interval::begin);
  return after != stretches.begin() && moment < std::prev(after)->end;
}

SampleLoops sample_loops(const RuleContext& rules) { return Finder(rules).find(); }

}  // namespace fathom
