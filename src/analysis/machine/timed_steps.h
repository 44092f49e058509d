// All steps of a run that were timed, recorded in depth or not.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/machine/run_usage.h"
#include "stats/summary.h"
#include "store/trace.h"

namespace fathom {

struct TimedSteps {
  Summary ns;
  std::int64_t first = 0;  ///< Number of the first: what it does only once makes it long.
  bool requests = false;   ///< Each lies in the thread that answered it, and they may overlap.
  std::vector<RunStep> outliers;  ///< Far longer than the others, longest first.
  std::size_t in_depth = 0;       ///< Also recorded by torch.profiler.
  Duration waited{};              ///< For batches of data loaders, in all of them.
  std::size_t fetches = 0;
};

/// Unset where nobody timed the steps of the whole run. O(n log n).
std::optional<TimedSteps> compute_timed_steps(const Trace& trace, const Steps& steps);

/// Slices of that category of the whole run, of process `pid`: those in the recorded span, and
/// those beside it. O(slices) where it has such a category.
template <typename Visit>
void each_timed(const Trace& trace, std::string_view category, std::int64_t pid, Visit visit) {
  std::vector<bool> is_it;
  bool any = false;
  for (const Category& each : trace.categories) {
    is_it.push_back(trace.text(each.name) == category);
    any = any || is_it.back();
  }
  const std::size_t rows = any ? trace.slices.size() : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (!is_it[trace.slices.category[row]]) continue;
    const SliceId slice(row);
    const Interval own{trace.slices.start[row], trace.slices.end(slice)};
    if (!trace.timed.empty() && (own.begin < trace.span.begin || own.end > trace.span.end))
      continue;  // these are there in any case
    if (pid == kAbsent || trace.track(slice).pid == pid) visit(trace.name(slice), own);
  }
  for (const TimedSlice& slice : trace.timed) {
    if (trace.text(slice.category) != category) continue;
    if (pid == kAbsent || slice.pid == pid)
      visit(trace.text(slice.name), Interval{slice.start, slice.start + slice.duration});
  }
}

}  // namespace fathom
