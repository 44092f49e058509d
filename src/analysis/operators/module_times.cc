// Sums frames, backward operators and activities by module and upwards.
#include "analysis/operators/module_times.h"

#include <utility>

#include "analysis/structure/from_outside.h"

namespace fathom {
namespace {

class Summing {
 public:
  explicit Summing(const Context& context)
      : context_(context),
        trace_(context.trace),
        modules_(context.modules()),
        selector_(context.selector()),
        times_(modules_.nodes.size()) {
    module_frames_.resize(trace_.slices.size());
  }

  void add_frames() {
    for (const Nesting::Thread& thread : context_.nesting().frames) {
      for (const SliceId frame : thread.slices) {
        if (!is_module_frame(trace_.name(frame))) continue;
        const Duration duration = trace_.slices.duration[frame.row()];
        const std::uint32_t node = modules_[frame];
        if (selector_.host(trace_, frame)) {
          ++times_[node].calls;
          times_[node].host_total += duration;
          times_[node].host_self += duration;
        }
        const SliceId around = module_around(frame);
        if (around.valid() && selector_.host(trace_, around))
          times_[modules_[around]].host_self -= duration;
      }
    }
  }

  void add_backward() {
    for (const Nesting::Thread& thread : context_.nesting().work) {
      for (const SliceId slice : thread.slices) {
        const SliceId parent = context_.nesting().parent[slice.row()];
        const bool outermost = !parent.valid() || modules_.joined[parent.row()] == 0;
        if (modules_.joined[slice.row()] == 0 || !outermost || !selector_.host(trace_, slice))
          continue;
        times_[modules_[slice]].backward_host += trace_.slices.duration[slice.row()];
      }
    }
  }

  void add_activities() {
    const Links& links = context_.links();
    for (const SliceId activity : links.activities) {
      if (!selector_.activity(trace_, activity)) continue;
      const Duration duration = trace_.slices.duration[activity.row()];
      const SliceId launch = links.launch[activity.row()];
      const SliceId host = launch.valid() ? launch : links.op[activity.row()];
      const std::uint32_t node = host.valid() ? modules_[host] : Modules::kTop;
      const bool backward = host.valid() && modules_.joined[host.row()] != 0;
      times_[node].device_self += duration;
      times_[node].device_total += duration;
      if (backward) times_[node].backward_device += duration;
    }
  }

  /// Adds what was summed for a module to those around it, which stand before it.
  void add_upwards() {
    for (std::size_t node = times_.size(); node-- > 0;) {
      if (node == Modules::kTop) continue;
      ModuleTimes& around = times_[modules_.nodes[node].parent];
      around.device_total += times_[node].device_total;
      around.backward_host += times_[node].backward_host;
      around.backward_device += times_[node].backward_device;
    }
  }

  std::vector<ModuleTimes> take() { return std::move(times_); }

 private:
  /// The nearest module frame around a frame, or invalid.
  [[nodiscard]] SliceId module_around(SliceId frame) const {
    const Column<SliceId>& parent = context_.nesting().parent;
    return innermost_around(module_frames_, parent, parent[frame.row()], [this](SliceId around) {
      return is_module_frame(trace_.name(around));
    });
  }

  const Context& context_;
  const Trace& trace_;
  const Modules& modules_;
  Selector selector_;
  FromOutside module_frames_;  // the nearest module frame
  std::vector<ModuleTimes> times_;
};

}  // namespace

std::vector<ModuleTimes> compute_module_times(const Context& context) {
  Summing sums(context);
  sums.add_frames();
  sums.add_backward();
  sums.add_activities();
  sums.add_upwards();
  return sums.take();
}

}  // namespace fathom
