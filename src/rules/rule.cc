// Gives rules the steps that count.
#include "rules/rule.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/structure/stretches.h"

namespace fathom {
namespace {

/// Calls visit(steps) for the steps of each process: those are in order, and do not overlap.
template <typename Visit>
void for_each_process(std::span<const Step* const> steps, const Visit& visit) {
  while (!steps.empty()) {
    const StringId process = steps.front()->process;
    const bool only = steps.back()->process == process;
    const auto end = only ? steps.end() : std::ranges::partition_point(steps, [&](const Step* at) {
      return at->process == process;
    });
    const auto count = static_cast<std::size_t>(end - steps.begin());
    visit(steps.first(count));
    steps = steps.subspan(count);
  }
}

}  // namespace

Duration RuleContext::window() const {
  Duration sum{};
  for (const Step* const step : steps) sum += step->window.length();
  return sum;
}

const Step* RuleContext::step_at(Time time, std::int64_t pid) const {
  const Step* found = nullptr;
  for_each_process(steps, [&](std::span<const Step* const> run) {
    const std::int64_t process = run.front()->pid;
    if (found != nullptr || (pid != kAbsent && process != kAbsent && pid != process)) return;
    const auto after = std::ranges::upper_bound(
        run, time, {}, [](const Step* step) { return step->window.begin; });
    if (after != run.begin() && time < (*std::prev(after))->window.end) found = *std::prev(after);
  });
  return found;
}

bool RuleContext::counts(Time time) const { return step_at(time) != nullptr; }

double RuleContext::percent(Duration time) const {
  const Duration whole = window();
  return whole > Duration{}
             ? 100.0 * static_cast<double>(to_ns(time)) / static_cast<double>(to_ns(whole))
             : 0.0;
}

Duration RuleContext::counted(const Interval& interval) const {
  Duration sum{};
  for_each_process(steps, [&](std::span<const Step* const> run) {
    auto step = std::ranges::upper_bound(run, interval.begin, {},
                                         [](const Step* at) { return at->window.end; });
    for (; step != run.end() && (*step)->window.begin < interval.end; ++step) {
      const Interval& window = (*step)->window;
      sum += std::min(interval.end, window.end) - std::max(interval.begin, window.begin);
    }
  });
  return sum;
}

CountedTime::CountedTime(const RuleContext& rules) {
  windows_.reserve(rules.steps.size());
  for (const Step* const step : rules.steps) windows_.push_back(step->window);
  windows_ = merged(std::move(windows_));
}

}  // namespace fathom
