// What a report or rule is given: the trace, the selection, and the analyses, each computed once
// when first asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "analysis/structure/links.h"
#include "analysis/structure/modules.h"
#include "analysis/structure/nesting.h"
#include "analysis/structure/phases.h"
#include "analysis/structure/selection.h"
#include "analysis/structure/steps.h"
#include "analysis/structure/timeline.h"
#include "store/trace.h"

namespace fathom {

struct Accounting;
struct TimedSteps;
class Telemetry;

/// What most analyses rest on, where it was computed before.
struct Structure {
  Nesting nesting;
  Links links;
};

/// Lazily computed analyses of one trace. Thread-safe. The trace must outlive it.
class Analyses {
 public:
  explicit Analyses(const Trace& trace);
  ~Analyses();
  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;

  /// Where nesting and links may come from instead of being computed: asked once, when the first of
  /// them is. Before any of them was.
  void provide(std::function<std::optional<Structure>()> structure);
  /// Were both computed, not provided?
  [[nodiscard]] bool computed_structure() const;

  [[nodiscard]] const Nesting& nesting() const;
  [[nodiscard]] const Links& links() const;
  [[nodiscard]] const Steps& steps() const;
  [[nodiscard]] const Timelines& timelines() const;
  [[nodiscard]] const Phases& phases() const;
  [[nodiscard]] const Modules& modules() const;
  /// Declared in analysis/accounting/accounting.h.
  [[nodiscard]] const Accounting& accounting() const;
  /// Declared in analysis/machine/telemetry.h.
  [[nodiscard]] const Telemetry& telemetry() const;
  /// Declared in analysis/machine/timed_steps.h. Unset where nobody timed the steps of the run.
  [[nodiscard]] const std::optional<TimedSteps>& timed_steps() const;

 private:
  struct State;
  /// What was provided; null: nothing.
  [[nodiscard]] Structure* provided() const;
  const Trace& trace_;
  std::unique_ptr<State> state_;
};

/// The selection, worked out: for loops over many slices.
struct Selector {
  std::optional<Interval> window;      ///< Starts must lie in it; unset: any time.
  std::optional<std::int32_t> device;  ///< Unset: every device.

  [[nodiscard]] bool time(Time start) const {
    return !window || (window->begin <= start && start < window->end);
  }
  /// A host slice belongs where it starts, whatever the device.
  [[nodiscard]] bool host(const Trace& trace, SliceId slice) const {
    return time(trace.slices.start[slice.row()]);
  }
  /// A device activity belongs to its device and where it starts.
  [[nodiscard]] bool activity(const Trace& trace, SliceId slice) const {
    return host(trace, slice) && (!device || trace.track(slice).device == *device);
  }
};

/// Borrowed views for one computation.
struct Context {
  const Trace& trace;
  const Analyses& analyses;
  Selection selection;
  TableOptions options;

  [[nodiscard]] const Nesting& nesting() const { return analyses.nesting(); }
  [[nodiscard]] const Links& links() const { return analyses.links(); }
  [[nodiscard]] const Steps& steps() const { return analyses.steps(); }
  [[nodiscard]] const Timelines& timelines() const { return analyses.timelines(); }
  [[nodiscard]] const Phases& phases() const { return analyses.phases(); }
  [[nodiscard]] const Modules& modules() const { return analyses.modules(); }
  [[nodiscard]] const Accounting& accounting() const { return analyses.accounting(); }
  [[nodiscard]] const Telemetry& telemetry() const { return analyses.telemetry(); }
  [[nodiscard]] const std::optional<TimedSteps>& timed_steps() const {
    return analyses.timed_steps();
  }

  /// The stretch of time that the selection looks at: --window, --steps (their windows), both
  /// intersected; without either, the trace's span.
  [[nodiscard]] Interval window() const;
  /// True when the selection is the whole trace and every device.
  [[nodiscard]] bool everything() const;
  /// The selection worked out once; prefer it to selects_*() in loops.
  [[nodiscard]] Selector selector() const;
  /// Is this host slice in the selection? A host slice belongs where it starts.
  [[nodiscard]] bool selects_host(SliceId slice) const;
  /// Is this device activity in the selection? By its device, and: where steps or a window are
  /// selected, it belongs where it starts.
  [[nodiscard]] bool selects_activity(SliceId slice) const;
};

}  // namespace fathom
