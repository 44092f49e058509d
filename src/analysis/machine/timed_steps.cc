// Sums up the steps that the recorder timed over the whole run.
#include "analysis/machine/timed_steps.h"

#include <algorithm>
#include <set>

#include "stats/long_outliers.h"

namespace fathom {
namespace {

double length_of(const RunStep& step) { return static_cast<double>(to_ns(step.window.length())); }

std::vector<RunStep> outliers_of(const std::vector<RunStep>& steps,
                                 const std::vector<double>& sorted) {
  std::vector<RunStep> found;
  const std::optional<double> fence = fence_of_long(sorted);
  if (!fence) return found;
  for (const RunStep& step : steps) {
    if (length_of(step) > *fence) found.push_back(step);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), length_of);
  return found;
}

}  // namespace

std::optional<TimedSteps> compute_timed_steps(const Trace& trace, const Steps& steps) {
  const std::vector<RunStep> all = recorded_run_steps(trace);
  if (all.empty()) return {};
  std::vector<double> lengths;
  lengths.reserve(all.size());
  for (const RunStep& step : all) lengths.push_back(length_of(step));
  TimedSteps found{.first = all.front().number, .requests = steps.requests};
  found.ns = summarize(lengths);
  std::ranges::sort(lengths);
  found.outliers = outliers_of(all, lengths);
  std::set<std::int64_t> numbers;
  if (steps.source == StepSource::profiler_step) {
    for (const Step& step : steps.steps) numbers.insert(step.number);
  }
  found.in_depth = numbers.size();
  const std::int64_t pid = steps.steps.empty() ? kAbsent : steps.steps.front().pid;
  each_timed(trace, "loader.fetch", pid, [&found](std::string_view, Interval fetch) {
    found.waited += fetch.length();
    ++found.fetches;
  });
  return found;
}

}  // namespace fathom
