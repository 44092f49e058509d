// What rules ask of the steps that count.
#include "rules/rule.h"

#include <algorithm>

namespace fathom {

Duration RuleContext::window() const {
  Duration sum{};
  for (const Step* const step : steps) sum += step->window.length();
  return sum;
}

const Step* RuleContext::step_at(Time time, std::int64_t pid) const {
  // Steps of one process are in order and do not overlap; those of several processes may.
  for (auto run = steps.begin(); run != steps.end();) {
    const std::int64_t process = (*run)->pid;
    const auto end = std::find_if(run, steps.end(),
                                  [process](const Step* step) { return step->pid != process; });
    if (pid == kAbsent || process == kAbsent || pid == process) {
      const auto after = std::upper_bound(
          run, end, time, [](Time at, const Step* step) { return at < step->window.begin; });
      if (after != run && time < (*std::prev(after))->window.end) return *std::prev(after);
    }
    run = end;
  }
  return nullptr;
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
  for (const Step* const step : steps) {
    const Time begin = std::max(interval.begin, step->window.begin);
    const Time end = std::min(interval.end, step->window.end);
    if (begin < end) sum += end - begin;
  }
  return sum;
}

}  // namespace fathom
