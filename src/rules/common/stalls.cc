// Compares calls of operators with the same calls in other steps.
#include "rules/common/stalls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "rules/common/counted.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

constexpr std::size_t kFewestSteps = 3;
constexpr std::int64_t kTimesUsual = 20;
constexpr Duration kLeastStall = duration_ns(1'000'000);

/// Operators that compute, and nodes of the backward pass; not those that hand gradients to other
/// ranks, and may wait for them.
bool computes(std::string_view name) {
  return name.starts_with("aten::") || (name.starts_with("autograd::engine::evaluate_function") &&
                                        !name.ends_with("AccumulateGrad"));
}

/// What the calls of one name took by themselves, by step.
using Calls = std::vector<std::vector<Duration>>;

void add_stalls(const Calls& steps, Stalls& stalls) {
  const std::size_t count = steps.front().size();
  const auto as_many = [count](const std::vector<Duration>& step) { return step.size() == count; };
  if (!std::ranges::all_of(steps, as_many)) return;
  std::vector<Duration> same(steps.size());
  for (std::size_t call = 0; call < count; ++call) {
    for (std::size_t step = 0; step < steps.size(); ++step) same[step] = steps[step][call];
    std::ranges::sort(same);
    const Duration usual = same[(same.size() - 1) / 2];
    for (const Duration took : same) {
      if (took - usual < kLeastStall || took < kTimesUsual * usual) continue;
      stalls.time += took - usual;
      ++stalls.calls;
    }
  }
}

}  // namespace

Stalls find_stalls(const RuleContext& rules) {
  Stalls stalls;
  if (rules.device >= 0 || rules.steps.size() < kFewestSteps) return stalls;
  const Trace& trace = rules.trace();
  const NameSet names(trace, computes);
  const std::vector<Interval>& once = rules.accounting.one_off.of(rules.accounting.main_thread);
  std::map<StringId, Calls> by_name;
  for_each_work(rules, [&](SliceId op, SliceId) {
    const StringId name = trace.slices.name[op.row()];
    const Time start = trace.slices.start[op.row()];
    if (!names.contains(name)) return;
    const auto step = std::ranges::find(rules.steps, rules.step_at(start));
    if (step == rules.steps.end()) return;
    const auto work = std::ranges::upper_bound(once, start, {}, &Interval::end);
    const bool only_once = work != once.end() && work->begin < trace.slices.end(op);
    Calls& calls = by_name[name];
    calls.resize(rules.steps.size());
    calls[static_cast<std::size_t>(step - rules.steps.begin())].push_back(
        only_once ? Duration{} : rules.self_times[op.row()]);
  });
  for (const auto& [name, calls] : by_name) add_stalls(calls, stalls);
  return stalls;
}

}  // namespace fathom
