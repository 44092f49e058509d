// Computes each analysis once, when it is first asked for, and applies the selection.
#include "analysis/context.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "analysis/accounting/accounting.h"
#include "analysis/machine/telemetry.h"
#include "analysis/machine/timed_steps.h"
#include "base/once.h"
#include "base/parallel.h"
#include "base/stop.h"

namespace fathom {
namespace {

/// A value that is computed by whoever asks first; others wait for it.
template <typename T>
class Lazy {
 public:
  template <typename Compute>
  const T& get(const Compute& compute) {
    once_.call([&] {
      stop_point();
      value_.emplace(compute());
    });
    return *value_;
  }

 private:
  Once once_;
  std::optional<T> value_;
};

Interval intersection(Interval a, Interval b) {
  const Time begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// From the first to the last of the selected steps; empty when there is none.
Interval window_of_steps(const Steps& steps, Selection::StepRange range) {
  std::optional<Interval> window;
  for (const Step& step : steps.steps) {
    if (step.number < range.first || step.number > range.last) continue;
    if (!window) window = step.window;
    window->begin = std::min(window->begin, step.window.begin);
    window->end = std::max(window->end, step.window.end);
  }
  return window.value_or(Interval{});
}

}  // namespace

struct Analyses::State {
  std::function<std::optional<Structure>()> provide;
  Once provide_once;
  std::optional<Structure> provided;  // emptied by who takes it
  std::atomic<bool> computed_links = false;
  Lazy<Nesting> nesting;
  Lazy<Links> links;
  Lazy<Steps> steps;
  Lazy<Timelines> timelines;
  Lazy<Phases> phases;
  Lazy<Modules> modules;
  Lazy<Accounting> accounting;
  Lazy<Telemetry> telemetry;
  Lazy<std::optional<TimedSteps>> timed_steps;
};

Analyses::Analyses(const Trace& trace) : trace_(trace), state_(std::make_unique<State>()) {}
Analyses::~Analyses() = default;

void Analyses::provide(std::function<std::optional<Structure>()> structure) {
  state_->provide = std::move(structure);
}

Structure* Analyses::provided() const {
  state_->provide_once.call([this] {
    if (state_->provide) state_->provided = state_->provide();
  });
  return state_->provided ? &*state_->provided : nullptr;
}

bool Analyses::computed_structure() const { return state_->computed_links.load(); }

const Nesting& Analyses::nesting() const {
  return state_->nesting.get([this] {
    if (Structure* const known = provided()) return std::move(known->nesting);
    return compute_nesting(trace_);
  });
}

const Links& Analyses::links() const {
  return state_->links.get([this] {
    if (Structure* const known = provided()) return std::move(known->links);
    const unsigned threads = trace_.slices.size() > kWorthThreads ? 2 : 1;
    Links links;
    // The larger part first. The other may be under way already.
    for_each_in_parallel(2, threads, [&](std::size_t part) {
      part == 0 ? static_cast<void>(links = match_launches(trace_)) : static_cast<void>(nesting());
    });
    attribute_to_ops(trace_, nesting(), links);
    state_->computed_links.store(true);
    return links;
  });
}

const Steps& Analyses::steps() const {
  return state_->steps.get([this] { return compute_steps(trace_, links()); });
}

const Timelines& Analyses::timelines() const {
  return state_->timelines.get([this] { return compute_timelines(trace_, links()); });
}

const Phases& Analyses::phases() const {
  return state_->phases.get([this] { return compute_phases(trace_, nesting()); });
}

const Modules& Analyses::modules() const {
  return state_->modules.get([this] { return compute_modules(trace_, nesting()); });
}

const Accounting& Analyses::accounting() const {
  return state_->accounting.get([this] { return compute_accounting({trace_, *this, {}, {}}); });
}

const Telemetry& Analyses::telemetry() const {
  return state_->telemetry.get([this] { return Telemetry(trace_); });
}

const std::optional<TimedSteps>& Analyses::timed_steps() const {
  return state_->timed_steps.get([this] { return compute_timed_steps(trace_, steps()); });
}

Interval Context::window() const {
  Interval window = trace.span;
  if (selection.window) {
    // Users count from the start of what was recorded; an open end is the end of time.
    const Duration offset = trace.span.begin.time_since_epoch();
    const auto shifted = [offset](Time time) {
      return time > Time() && offset > Time::max() - time ? Time::max() : time + offset;
    };
    window =
        intersection(window, {shifted(selection.window->begin), shifted(selection.window->end)});
  }
  if (selection.steps) window = intersection(window, window_of_steps(steps(), *selection.steps));
  return window;
}

bool Context::everything() const {
  return !selection.steps && !selection.window && !selection.device;
}

Selector Context::selector() const {
  Selector selector;
  if (selection.steps || selection.window) selector.window = window();
  selector.device = selection.device;
  return selector;
}

bool Context::selects_host(SliceId slice) const { return selector().host(trace, slice); }
bool Context::selects_activity(SliceId slice) const { return selector().activity(trace, slice); }

}  // namespace fathom
