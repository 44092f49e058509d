// The dependency graph of a trace, and what happens to its step time when something changes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/context.h"
#include "analysis/structure/activity_column.h"

namespace fathom {

struct ReplayGraph;

/// Changes to a program, in terms of its recording. Later entries for one slice win.
struct Edits {
  /// New duration of a host slice (its own time, children excluded) or device activity as a factor
  /// of the old one: 0 removes its time.
  std::vector<std::pair<SliceId, float>> scale;
  /// Launching calls that no longer happen, with their activities: fused away.
  std::vector<SliceId> remove;
  /// Calls that no longer wait for the device: synchronising calls, pageable copies.
  std::vector<SliceId> no_wait;
  /// Host slices whose time, children included, goes to a thread of its own and runs ahead: data
  /// loading in workers. The loop still waits when they take longer than everything else.
  std::vector<SliceId> overlap;
  /// Communication activities that may run beside compute kernels of the same step.
  std::vector<SliceId> hide;
  /// All launching of each step takes the host no more than one launch: graph capture.
  bool launch_once = false;
  [[nodiscard]] bool empty() const {
    return scale.empty() && remove.empty() && no_wait.empty() && overlap.empty() && hide.empty() &&
           !launch_once;
  }
};

/// What a stretch of the critical path is made of.
enum class PathPart : std::uint8_t { host, launch, device, communication, copy, wait };
inline constexpr std::size_t kPathParts = static_cast<std::size_t>(PathPart::wait) + 1;
std::string_view to_string(PathPart part);

/// One stretch of a critical path.
struct PathPiece {
  Interval interval{};
  PathPart part = PathPart::host;
  SliceId slice{};  ///< The activity, call or innermost operator; may be invalid.
};

/// Step times of the predicted steps, in their order, after a change: all counted steps, or evenly
/// chosen ones of them where there are many. Compare with the prediction of no edits, which has the
/// recorded times of the same steps.
struct Prediction {
  std::vector<Duration> steps;
  Duration median{};
  Duration mean{};
  /// What the critical path of the median step is made of then.
  std::array<Duration, kPathParts> path{};
};

/// Fills median and mean from the steps.
void summarise(Prediction& prediction);

/// Delays that no edge explains.
struct Residuals {
  Duration sum{};     ///< Σ over the window, of those on the critical path.
  Duration window{};  ///< What they are measured against.
  /// Not in the sum: what every replay of a CUDA graph waits at the same place, as far as they all
  /// do. Work of the graph that was not recorded; kept as a delay, too.
  Duration unrecorded{};
  [[nodiscard]] double percent() const;
};

/// A trace as a graph: host program order, launch → activity, stream order with the recorded
/// overlap, event waits, synchronising calls, forward → backward. Immutable, thread-safe. Borrows
/// the trace and its analyses.
class Replay {
 public:
  /// Predicts the counted steps that the context selects. O(n log n).
  static Replay build(const Context& context);
  /// Predicts the `counted` ones of these steps: those of the context, or others, by process, then
  /// time. The steps are copied.
  static Replay build(const Context& context, std::span<const Step> steps,
                      std::span<const Step* const> counted);
  /// The same, for run() and residuals() only: keeps in memory what they need, which is little
  /// where steps are many. Times of the steps before the predicted ones are as recorded.
  static Replay for_predictions(const Context& context);
  static Replay for_predictions(const Context& context, std::span<const Step> steps,
                                std::span<const Step* const> counted);
  Replay(Replay&&) noexcept;
  ~Replay();

  /// Unchanged: reproduces every activity exactly. O(nodes + edges).
  [[nodiscard]] Prediction run(const Edits& edits) const;
  /// Those of the slices whose edits can change what run() says, in their order. O(nodes + slices).
  [[nodiscard]] std::vector<SliceId> concerned(std::span<const SliceId> slices) const;
  [[nodiscard]] Residuals residuals() const;
  /// Where the predicted steps lie in the trace, in the order of Prediction::steps.
  [[nodiscard]] std::vector<Interval> predicted_windows() const;
  /// From the begin of the step's window to its end; touching. Of a step that the replay was not
  /// built with: nothing.
  [[nodiscard]] std::vector<PathPiece> critical_path(const Step& step) const;
  /// Where each activity of the whole trace lies after the change. O(nodes + edges).
  [[nodiscard]] ActivityColumn<Interval> activities(const Edits& edits) const;
  [[nodiscard]] std::size_t nodes() const;

 private:
  explicit Replay(std::unique_ptr<const ReplayGraph> graph);
  std::unique_ptr<const ReplayGraph> graph_;
};

}  // namespace fathom
