// Collects work that is done once, and when each thread is at it.
#include "analysis/accounting/one_off.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/accounting/first_use.h"
#include "analysis/structure/compilation_names.h"
#include "analysis/structure/links.h"
#include "analysis/structure/stretches.h"

namespace fathom {
namespace {

/// Graphs that are captured in more steps than this share of them are captured all the time.
constexpr std::size_t kStepsPerCapture = 4;

/// The names of a trace for which something holds, each asked once.
template <typename Matches>
std::vector<bool> names_that(const Trace& trace, const Matches& matches) {
  std::vector<bool> names(trace.strings.size());
  for (std::size_t row = 0; row < names.size(); ++row)
    names[row] = matches(trace.strings.view(StringId(row)));
  return names;
}

void add_outermost(const Trace& trace, const std::vector<Nesting::Thread>& threads,
                   const std::vector<bool>& names, std::vector<OneOff>& found) {
  if (std::ranges::find(names, true) == names.end()) return;
  for (const Nesting::Thread& thread : threads) {
    Time covered = Time::min();
    for (const SliceId slice : thread.slices) {
      if (trace.slices.start[slice.row()] < covered) continue;
      if (!names[trace.slices.name[slice.row()].row()]) continue;
      covered = trace.slices.end(slice);
      found.push_back({slice, interval_of(trace, slice), OneOffKind::compilation});
    }
  }
}

std::vector<OneOff> compilations(const Context& context) {
  const Trace& trace = context.trace;
  const Nesting& nesting = context.nesting();
  std::vector<OneOff> found;
  add_outermost(trace, nesting.work, names_that(trace, is_compiling_range), found);
  add_outermost(trace, nesting.frames, names_that(trace, is_compiling_frame), found);
  return found;
}

bool begins_capture(std::string_view name) { return name.find("StreamBeginCapture") != name.npos; }
bool ends_capture(std::string_view name) { return name.find("StreamEndCapture") != name.npos; }

/// torch.cuda.graph waits for the device and empties the cache before it captures.
bool prepares_capture(CallKind kind) {
  return kind == CallKind::synchronize || kind == CallKind::allocate;
}

std::vector<OneOff> captures(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const std::vector<bool> begins = names_that(trace, begins_capture);
  if (std::ranges::find(begins, true) == begins.end()) return {};
  const std::vector<bool> ends = names_that(trace, ends_capture);
  std::vector<OneOff> found;
  for (const Nesting::Thread& thread : context.nesting().work) {
    SliceId begun;
    SliceId prepares;  // the first of the calls before it that wait or free memory for it
    for (const SliceId slice : thread.slices) {
      const std::size_t name = trace.slices.name[slice.row()].row();
      if (begins[name] && !begun.valid()) begun = prepares.valid() ? prepares : slice;
      const bool call =
          is_runtime_call(trace.kind(slice)) && !starts_activity(links.call_kind(trace, slice));
      if (!call) prepares = {};
      if (call && !prepares.valid() && prepares_capture(links.call_kind(trace, slice)))
        prepares = slice;
      if (!ends[name] || !begun.valid()) continue;
      const Interval all{trace.slices.start[begun.row()], trace.slices.end(slice)};
      found.push_back({std::exchange(begun, {}), all, OneOffKind::capture});
    }
    if (!begun.valid()) continue;
    const Time last = trace.slices.end(thread.slices.back());
    const Interval rest{trace.slices.start[begun.row()], std::max(last, trace.slices.end(begun))};
    found.push_back({begun, rest, OneOffKind::capture});
  }
  return found;
}

/// How many counted steps hold the start of one, and how many of these are not their process's
/// first.
struct Spread {
  std::size_t steps = 0;
  std::size_t later = 0;
};

Spread spread_of(const std::vector<const Step*>& steps, const std::vector<OneOff>& work) {
  std::vector<Time> starts;
  starts.reserve(work.size());
  for (const OneOff& one : work) starts.push_back(one.interval.begin);
  std::ranges::sort(starts);
  Spread spread;
  const Step* before = nullptr;
  for (const Step* const step : steps) {
    const auto at = std::ranges::lower_bound(starts, step->window.begin);
    const bool holds = at != starts.end() && *at < step->window.end;
    const bool first = before == nullptr || before->process != step->process;
    before = step;
    if (!holds) continue;
    ++spread.steps;
    if (!first) ++spread.later;
  }
  return spread;
}

void append(std::vector<OneOff>& all, const std::vector<OneOff>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

OneOffWork::OneOffWork(const Context& context) : all_(first_uses(context)) {
  const std::vector<const Step*> steps = context.steps().counted();
  const std::vector<OneOff> compiling = compilations(context);
  if (spread_of(steps, compiling).later == 0) append(all_, compiling);
  const std::vector<OneOff> capturing = captures(context);
  const std::size_t most = std::max<std::size_t>(1, steps.size() / kStepsPerCapture);
  if (spread_of(steps, capturing).steps <= most) append(all_, capturing);
  if (all_.empty()) return;
  by_thread_.resize(context.trace.tracks.size());
  for (const OneOff& one : all_)
    by_thread_[context.trace.slices.track[one.slice.row()].row()].push_back(one.interval);
  for (std::vector<Interval>& thread : by_thread_) thread = merged(std::move(thread));
}

const std::vector<Interval>& OneOffWork::of(TrackId thread) const {
  static const std::vector<Interval> none;
  return by_thread_.empty() || !thread.valid() ? none : by_thread_[thread.row()];
}

}  // namespace fathom
