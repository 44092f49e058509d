// Counts updates behind each optimizer step, and the gradients before it.
#include "rules/common/weight_averages.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/structure/stretches.h"
#include "rules/common/arguments.h"
#include "rules/common/edits.h"
#include "rules/common/names.h"
#include "rules/common/user_ops.h"

namespace fathom {
namespace {

/// What updates of averages consist of, one after the other for each parameter.
constexpr auto kAverageOps = std::to_array<std::string_view>(
    {"aten::mul_", "aten::add_", "aten::lerp_", "aten::sub_", "aten::copy_", "aten::mul",
     "aten::add", "aten::sub", "aten::rsub", "aten::detach", "aten::to", "aten::lerp"});
/// A run has at least so many updates for each gradient, and at most: buffers have averages, too.
constexpr double kLeastPerGradient = 0.9;
constexpr double kMostPerGradient = 2.0;
constexpr std::size_t kFewestUpdates = 4;

bool accumulates(std::string_view name) {
  return name.ends_with("torch::autograd::AccumulateGrad");
}

class AverageFinder {
 public:
  explicit AverageFinder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        of_averages_(trace_, kAverageOps),
        products_(trace_,
                  [](std::string_view name) {
                    return is_product(name) || name == "aten::linear" || name == "aten::matmul" ||
                           name.find("conv") != std::string_view::npos;
                  }),
        steps_(optimizer_steps()),
        gradients_(gradient_times()) {}

  /// On the thread of the first optimizer step.
  WeightAverages find() {
    if (steps_.empty() || gradients_.empty() || !of_averages_.any()) return {};
    const UserOps user_ops(rules_);
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (thread.track == trace_.slices.track[steps_.front().row()]) look(user_ops.of(thread));
    }
    std::ranges::sort(found_.slices);
    return std::move(found_);
  }

 private:
  /// The outermost ones of all steps, ascending by time.
  [[nodiscard]] std::vector<SliceId> optimizer_steps() const {
    const NameSet names(trace_,
                        [](std::string_view name) { return name.starts_with("Optimizer.step"); });
    std::vector<SliceId> found;
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      Time covered = Time::min();
      for (const SliceId slice : thread.slices) {
        const bool inside = trace_.slices.start[slice.row()] < covered;
        if (inside || !names.contains(trace_.slices.name[slice.row()])) continue;
        covered = trace_.slices.end(slice);
        found.push_back(slice);
      }
    }
    std::ranges::sort(found, {}, [&](SliceId step) { return trace_.slices.start[step.row()]; });
    return found;
  }

  [[nodiscard]] std::vector<Time> gradient_times() const {
    const NameSet names(trace_, accumulates);
    std::vector<Time> times;
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    for (std::size_t row = 0; row < trace_.slices.size() && names.any(); ++row) {
      if (!names.contains(trace_.slices.name[row])) continue;
      const SliceId around = parent[row];
      // One accumulation has two slices, one in the other.
      const bool inner = around.valid() && names.contains(trace_.slices.name[around.row()]);
      if (!inner) times.push_back(trace_.slices.start[row]);
    }
    std::ranges::sort(times);
    return times;
  }

  [[nodiscard]] StringId name(const UserOp& op) const { return trace_.slices.name[op.op.row()]; }

  void look(const std::vector<UserOp>& ops) {
    std::size_t step = 0;
    bool after = false;  // An optimizer step, and no matrix multiplication since.
    for (std::size_t at = 0; at < ops.size();) {
      const Time start = trace_.slices.start[ops[at].op.row()];
      while (step < steps_.size() && trace_.slices.end(steps_[step]) <= start) {
        after = true;
        ++step;
      }
      after = after && !products_.contains(name(ops[at]));
      std::size_t end = at;
      const Time next =
          step < steps_.size() ? trace_.slices.start[steps_[step].row()] : Time::max();
      while (after && end < ops.size() && of_averages_.contains(name(ops[end])) &&
             ops[end].step == ops[at].step && trace_.slices.start[ops[end].op.row()] < next) {
        ++end;
      }
      if (end > at) add(std::span(ops).subspan(at, end - at), step - 1);
      at = std::max(end, at + 1);
    }
  }

  /// `optimizer`: the place of the step before the run.
  void add(std::span<const UserOp> run, std::size_t optimizer) {
    const auto count = [&](std::string_view op) {
      return static_cast<std::size_t>(std::ranges::count_if(
          run, [&](const UserOp& each) { return trace_.name(each.op) == op; }));
    };
    const std::size_t updates =
        std::max({count("aten::lerp_"), std::min(count("aten::mul_"), count("aten::add_")),
                  std::min(count("aten::sub"), count("aten::sub_")),
                  std::min(count("aten::mul"), count("aten::copy_"))});
    const Interval step = interval_of(trace_, steps_[optimizer]);
    const auto last = std::ranges::lower_bound(gradients_, step.begin);
    const Time before = optimizer == 0 ? Time::min() : trace_.slices.end(steps_[optimizer - 1]);
    const auto gradients =
        static_cast<std::size_t>(last - std::ranges::lower_bound(gradients_.begin(), last, before));
    const auto each = static_cast<double>(gradients);
    const auto made = static_cast<double>(updates);
    if (updates < kFewestUpdates || made < kLeastPerGradient * each ||
        made > kMostPerGradient * each) {
      return;
    }
    ++found_.runs;
    found_.updates += updates;
    found_.gradients += gradients;
    for (const UserOp& op : run) {
      found_.ops.push_back(op.op);
      const std::span<const SliceId> inside = tree(rules_, op.op);
      found_.slices.insert(found_.slices.end(), inside.begin(), inside.end());
    }
    found_.time += rules_.counted(
        {trace_.slices.start[run.front().op.row()], trace_.slices.end(run.back().op)});
  }

  const RuleContext& rules_;
  const Trace& trace_;
  const NameSet of_averages_;
  const NameSet products_;
  const std::vector<SliceId> steps_;
  const std::vector<Time> gradients_;
  WeightAverages found_;
};

}  // namespace

bool WeightAverages::hold(SliceId slice) const { return std::ranges::binary_search(slices, slice); }

WeightAverages weight_averages(const RuleContext& rules) { return AverageFinder(rules).find(); }

}  // namespace fathom
