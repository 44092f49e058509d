// Collects the baseline beside the step's time.
#include "engine/diagnosis/baseline.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "analysis/operators/op_self_times.h"
#include "analysis/operators/peak_memory.h"
#include "analysis/structure/program_ranges.h"
#include "base/quantity_text.h"
#include "rules/common/recorded.h"
#include "stats/summary.h"

namespace fathom {
namespace {

constexpr std::size_t kOperators = 5;
constexpr std::size_t kFewestForDrift = 6;
/// A device that is busy for less is worth a word, and another one below half (TraceML, the former
/// TensorBoard plugin).
constexpr double kModeratelyBusy = 70.0;
constexpr double kHalfBusy = 50.0;

/// As much of the time of GEMMs must be that of operators with a formula and shapes.
constexpr double kLeastKnown = 0.5;

bool is_product_kernel(KernelClass kernel) {
  return kernel == KernelClass::gemm || kernel == KernelClass::conv ||
         kernel == KernelClass::attention;
}

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

Duration whole_ns(double ns) { return duration_ns(std::llround(ns)); }

/// Lengths of the counted steps, in their order.
std::vector<double> lengths_of(const RuleContext& rules) {
  std::vector<double> lengths;
  for (const Step* const step : rules.steps) lengths.push_back(ns(step->window.length()));
  return lengths;
}

std::optional<double> drift(const std::vector<double>& lengths) {
  if (lengths.size() < kFewestForDrift) return std::nullopt;
  const std::size_t third = lengths.size() / 3;
  double first = 0;
  double last = 0;
  for (std::size_t i = 0; i < third; ++i) {
    first += lengths[i];
    last += lengths[lengths.size() - 1 - i];
  }
  return first > 0 ? std::optional(100 * (last / first - 1)) : std::nullopt;
}

/// The share of the peak that the recorded operations of operators reach over the counted steps.
/// Unset where the operations of most of the time of GEMMs are not known: the share would say
/// next to nothing.
std::optional<double> mfu(const RuleContext& rules) {
  const Timelines& timelines = rules.context.timelines();
  const DeviceTimeline* const timeline = timelines.find(rules.device);
  if (timeline == nullptr || rules.roofline.device == nullptr || rules.window() <= Duration{})
    return std::nullopt;
  CountedTime counted(rules);
  double at_peak = 0;
  double products = 0;
  double known_products = 0;
  for (const SliceId activity : timeline->activities) {
    if (!counted.holds(rules.trace().slices.start[activity.row()])) continue;
    const double time = ns(rules.trace().slices.duration[activity.row()]);
    const RooflineRow* const row = rules.roofline.row_of(activity);
    const bool known = row != nullptr && row->peak_flops > 0;
    if (known) at_peak += time * row->flops_per_s() / row->peak_flops;
    if (!is_product_kernel(timelines.traits_of(rules.trace(), activity).kernel_class)) continue;
    products += time;
    if (known) known_products += time;
  }
  if (at_peak <= 0 || known_products < kLeastKnown * products) return std::nullopt;
  return 100 * at_peak / ns(rules.window());
}

void add_memory(const RuleContext& rules, Baseline& baseline) {
  const PeakMemory memory = compute_peak_memory(rules.context);
  const PeakMemory::Peak* const peak = memory.of(rules.device);
  if (peak != nullptr && peak->allocated != kAbsent) baseline.peak_allocated = peak->allocated;
  if (peak != nullptr && peak->reserved != kAbsent) baseline.peak_reserved = peak->reserved;
  const Device* const device = device_of(rules);
  if (device != nullptr && device->memory_bytes > 0) baseline.memory_bytes = device->memory_bytes;
}

/// Names of operators: annotations, ranges of the program and calls of the runtime are none.
std::unordered_set<std::string_view> operator_names(const Context& context) {
  const Trace& trace = context.trace;
  std::vector<bool> seen = ranges_among_operators(trace, context.nesting());
  seen.resize(trace.strings.size());
  std::unordered_set<std::string_view> names;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const StringId name = trace.slices.name[row];
    if (seen[name.row()] || trace.kind(SliceId(row)) != SliceKind::cpu_op) continue;
    seen[name.row()] = true;
    names.insert(trace.text(name));
  }
  return names;
}

/// Kernels that no operator launched, by name: the program's own, or those of libraries that it
/// calls itself. They stand beside the operators, so that their time is not hidden.
void add_kernels_without_operator(const RuleContext& rules, std::vector<OpSelfTime>& rows) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  const Selector selector = rules.context.selector();
  Column<Duration> by_name;
  by_name.resize(trace.strings.size());
  for (const SliceId activity : links.activities) {
    const SliceId op = links.op[activity.row()];
    const bool by_operator = op.valid() && trace.kind(op) == SliceKind::cpu_op;
    const bool kernel = trace.kind(activity) == SliceKind::kernel;
    if (by_operator || !kernel || !selector.activity(trace, activity)) continue;
    by_name[trace.slices.name[activity.row()].row()] += trace.slices.duration[activity.row()];
  }
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    if (by_name[name] > Duration{})
      rows.push_back({trace.strings.view(StringId(name)), by_name[name]});
  }
}

void add_operators(const RuleContext& rules, Baseline& baseline) {
  OpSelfTimes times = compute_op_self_times(rules.context);
  const std::unordered_set<std::string_view> operators = operator_names(rules.context);
  std::erase_if(times.rows, [&operators](const OpSelfTime& row) {
    return row.self <= Duration{} || !operators.contains(row.name);
  });
  if (times.on_device) {
    add_kernels_without_operator(rules, times.rows);
  } else {  // what annotations and calls take by themselves is no operator's
    times.sum = Duration{};
    for (const OpSelfTime& row : times.rows) times.sum += row.self;
  }
  const std::size_t count = std::min(kOperators, times.rows.size());
  const auto end = times.rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(times.rows.begin(), end, times.rows.end(),
                    [](const OpSelfTime& a, const OpSelfTime& b) {
                      return a.self != b.self ? a.self > b.self : a.name < b.name;
                    });
  baseline.operators_on_device = times.on_device;
  for (auto row = times.rows.begin(); row != end; ++row) {
    baseline.operators.push_back({.name = std::string(row->name),
                                  .self = row->self,
                                  .percent = 100 * ns(row->self) / ns(times.sum)});
  }
}

}  // namespace

std::optional<double> busy_percent(const RuleContext& rules) {
  if (rules.device < 0 || rules.window() <= Duration{}) return std::nullopt;
  Account sum;
  for (const Step* const step : rules.steps)
    sum += account(rules.context, rules.accounting, rules.device, step->window);
  return rules.percent(sum[Bucket::compute] + sum[Bucket::communication] + sum[Bucket::memcpy] +
                       sum[Bucket::memset]);
}

std::string utilisation_sentence(std::optional<double> busy_percent) {
  if (!busy_percent || *busy_percent >= kModeratelyBusy) return {};
  return "The device is busy for " + percent_text(*busy_percent) + " of the step" +
         (*busy_percent < kHalfBusy ? ", less than half of it" : "") +
         ". Busy means that some kernel or copy runs, not that the device is full.";
}

Baseline compute_baseline(const RuleContext& rules) {
  Baseline baseline;
  std::vector<double> lengths = lengths_of(rules);
  baseline.drift_percent = drift(lengths);
  std::ranges::sort(lengths);
  baseline.first_quartile = whole_ns(quantile(lengths, 0.25));
  baseline.third_quartile = whole_ns(quantile(lengths, 0.75));
  baseline.batch = find_batch(rules);
  baseline.mfu_percent = mfu(rules);
  add_memory(rules, baseline);
  add_operators(rules, baseline);
  return baseline;
}

}  // namespace fathom
