// Scales the recorded work by the batch.
#include "rules/common/batch_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/kernels/occupancy.h"
#include "analysis/roofline/op_arguments.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/counted.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"

namespace fathom {
namespace {

/// Rows of the tiles that libraries compute products in: fewer take as long.
constexpr double kTileRows = 64;

/// What calling an operator costs at least; the rest of its own time may be computing.
constexpr Duration kLeastCall = duration_ns(2'000);

/// The factor up to which a product of few rows may stay as it is; 0 where it is no such.
double rows_to_fill(const Trace& trace, SliceId op) {
  if (!op.valid() || !is_product(trace.name(op))) return 0;
  const std::optional<OpArguments> arguments = arguments_of(trace, op);
  if (!arguments) return 0;
  double rows = 0;
  for (const TensorArgument& tensor : arguments->tensors()) {
    if (tensor.dims.size() < 2) continue;
    rows = tensor.dim(tensor.dims.size() - 2);
    break;
  }
  return rows > 0 ? kTileRows / rows : 0;
}

/// Nodes of the backward pass compute in the operators that they call.
bool runs_others(std::string_view name) {
  return name.starts_with("autograd::") || name.starts_with("torch::autograd") ||
         name.find("Backward") != std::string_view::npos;
}

Duration scaled(Duration time, double factor) {
  return duration_ns(std::llround(static_cast<double>(to_ns(time)) * factor));
}

}  // namespace

double filled_part(const RuleContext& rules, SliceId kernel) {
  const Trace& trace = rules.trace();
  const std::uint32_t detail = trace.slices.detail[kernel.row()];
  if (trace.kind(kernel) != SliceKind::kernel || detail == SliceId::kNone) return 1.0;
  const LaunchConfig& config = trace.launch_configs[trace.kernels.config[detail].row()];
  const Device* const device = device_of(rules);
  if (device != nullptr) {
    const auto limits = multiprocessor_limits(*device);
    const auto occupancy =
        limits ? theoretical_occupancy(*limits, config) : std::optional<Occupancy>();
    const auto all = occupancy ? waves(*limits, config, *occupancy) : std::optional<double>();
    if (all && *all > 0) return std::min(1.0, *all);
  }
  const std::optional<double> blocks = grid_blocks_per_sm(config, device);
  return blocks && *blocks > 0 ? std::min(1.0, *blocks) : 1.0;
}

BatchTimes::BatchTimes(const RuleContext& rules)
    : loops_(sample_loops(rules)), device_(rules.device >= 0) {
  if (device_) {
    look_at_device(rules);
  } else {
    look_at_host(rules);
  }
}

/// Python that may grow, outside of loops, which are counted as a whole.
bool BatchTimes::is_long_python(const Interval& stretch) const {
  return stretch.length() > kLongestCall && !loops_.hold(stretch.begin);
}

void BatchTimes::look_at_device(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  const Phases& phases = rules.context.phases();
  const bool training = is_training(rules);
  Duration once{};
  for (const Step* const step : rules.steps) {
    const Account parts = account(rules.context, rules.accounting, rules.device, step->window);
    now_ += step->window.length();
    once += parts[Bucket::warm_up];
    input_ += parts[Bucket::input];
    memory_ += parts[Bucket::allocation];
    unexplained_ +=
        parts[Bucket::dependency] + parts[Bucket::device_wait] + parts[Bucket::host_unknown];
  }
  now_ -= once;
  CountedTime counted(rules);
  for (const IdlePiece& piece : rules.accounting.find(rules.device)->pieces) {
    const bool long_python = piece.cause == Bucket::python && is_long_python(piece.interval);
    if (counted.holds(piece.interval.begin) && long_python) {
      unexplained_ += rules.counted(piece.interval);
    }
  }
  looped_ = idle_in(rules, loops_.stretches, kHostLate);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const Duration time = rules.accounting.credited[activity.row()];
    busy_ += time;
    const SliceId asked = op.valid() ? op : rules.context.links().launch[activity.row()];
    if (asked.valid() && phases[asked] == Phase::optimizer) return;
    const bool kernel = trace.kind(activity) == SliceKind::kernel;
    Work work{.time = time};
    if (kernel && timelines.busy_kind(trace, activity) == Busy::communication &&
        collective_kind(trace.name(activity)) != CollectiveKind::all_to_all) {
      // Gradients are as many as before. Without any, parts of results or of weights are sent, of
      // which only the results grow.
      if (training) return;
      work.stays_until = std::numeric_limits<double>::infinity();
      work_.push_back(work);
      return;
    }
    const double filled = filled_part(rules, activity);
    if (filled < 1.0) {
      work.stays_until = 1.0 / filled;
      unfilled_ += time;
    } else if (kernel) {
      full_ += time;
    }
    work.stays_until = std::max(work.stays_until, rows_to_fill(trace, op));
    work_.push_back(work);
  });
}

void BatchTimes::look_at_host(const RuleContext& rules) {
  const Phases& phases = rules.context.phases();
  CountedTime counted(rules);
  for (const HostPiece& piece : rules.accounting.host) {
    if (!counted.holds(piece.interval.begin)) continue;
    if (piece.bucket == HostBucket::warm_up) continue;
    now_ += piece.interval.length();
    if (piece.bucket == HostBucket::input) input_ += piece.interval.length();
    // In a collective the thread waits for other ranks, too, whose work grows.
    if (piece.bucket == HostBucket::communication ||
        (piece.bucket == HostBucket::python && is_long_python(piece.interval))) {
      unexplained_ += piece.interval.length();
    }
  }
  looped_ = loops_.time;
  const NameSet nodes(rules.trace(), runs_others);
  for_each_work(rules, [&](SliceId op, SliceId) {
    if (phases[op] == Phase::optimizer || phases[op] == Phase::data) return;
    if (loops_.hold(rules.trace().slices.start[op.row()])) return;
    const Duration own = rules.self_times[op.row()];
    const Duration grows = own - std::min(own, kLeastCall);
    if (grows <= Duration{} || nodes.contains(rules.trace().slices.name[op.row()])) return;
    full_ += grows;
    work_.push_back({.time = grows});
  });
}

BatchTimes::Range BatchTimes::with(std::int64_t factor, bool loops_grow) const {
  const auto times = static_cast<double>(factor);
  Duration least{};
  Duration most{};
  for (const Work& work : work_) {
    most += scaled(work.time, times - 1.0);
    // What may stay until the device is full grows only from there on.
    const double from = std::max(1.0, work.stays_until);
    least += scaled(work.time, std::max(0.0, times / from - 1.0));
  }
  const Duration input = scaled(input_, times - 1.0);
  const Duration looped = scaled(looped_, times - 1.0);
  const Duration surely = loops_.known || loops_grow ? looped : Duration{};
  most += scaled(unexplained_, times - 1.0) + looped;
  // A processor has no time in which it waits for itself.
  if (!device_) return {.low = now_ + input + surely, .high = now_ + most + input};
  return {.low = std::max(now_, busy_ + least) + input + surely, .high = now_ + most + input};
}

}  // namespace fathom
