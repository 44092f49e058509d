// Draws the line of the device's time through two batches, above the floor that the host sets.
#include "engine/diagnosis/batch_point.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"

namespace fathom {
namespace {

/// Batches that are nearer differ by less than recordings of one do.
constexpr double kApart = 1.2;
/// A device that is busy for less of the step waits for the host.
constexpr double kBusy = 0.8;
/// Of the step: more waiting for input hides what a batch costs.
constexpr double kMostInput = 0.1;
/// Of the larger batch's device time: the line may meet zero so far above a batch of none, where
/// larger batches leave the caches; beyond that it is no line.
constexpr double kBelowZero = 0.2;
/// The host's time does not grow with the batch: a step that waits for it and is this much longer
/// waited for something else, too.
constexpr double kMoreHost = 1.25;
/// Of the costliest five operators.
constexpr std::ptrdiff_t kShared = 3;

bool same_program(const BatchSize& one, const BatchSize& other) {
  const auto shared = std::ranges::count_if(one.operators, [&](const std::string& name) {
    return std::ranges::find(other.operators, name) != other.operators.end();
  });
  return one.device == other.device && shared >= kShared;
}

bool waits_for_host(const BatchSize& size) { return size.device_ns < kBusy * size.step_ns; }

std::string step_text(double ns) {
  return duration_text(duration_ns(static_cast<std::int64_t>(std::llround(ns))));
}

std::string samples_text(double samples) {
  return count_text(static_cast<std::int64_t>(std::llround(samples)));
}

}  // namespace

std::optional<BatchSize> batch_size_of(const Diagnosis& diagnosis) {
  const std::optional<Batch>& batch = diagnosis.baseline.batch;
  if (diagnosis.device < 0 || !batch || !batch->samples) return std::nullopt;
  BatchSize size{.samples = *batch->samples, .device = {}, .operators = {}};
  double steps = 0;
  for (const StepAccount& step : diagnosis.steps) {
    if (step.outlier) continue;
    const Account& parts = step.account;
    const Duration device = parts[Bucket::compute] + parts[Bucket::communication] +
                            parts[Bucket::memcpy] + parts[Bucket::memset];
    size.step_ns += static_cast<double>(to_ns(step.window.length() - parts[Bucket::warm_up]));
    size.device_ns += static_cast<double>(to_ns(device));
    size.input_ns += static_cast<double>(to_ns(parts[Bucket::input]));
    ++steps;
  }
  if (steps == 0 || size.step_ns <= 0) return std::nullopt;
  for (double* const time : {&size.step_ns, &size.device_ns, &size.input_ns}) *time /= steps;
  size.device =
      diagnosis.device_name.empty() ? std::to_string(diagnosis.device) : diagnosis.device_name;
  for (const CostlyOperator& each : diagnosis.baseline.operators)
    size.operators.push_back(each.name);
  return size;
}

std::optional<BatchPoint> with_twice_the_batch(const BatchSize& one, const BatchSize& other) {
  const BatchSize& small = one.samples < other.samples ? one : other;
  const BatchSize& large = one.samples < other.samples ? other : one;
  if (!same_program(small, large) || large.samples < kApart * small.samples) return std::nullopt;
  for (const BatchSize* const size : {&small, &large})
    if (size->input_ns > kMostInput * size->step_ns) return std::nullopt;
  const double per_sample = (large.device_ns - small.device_ns) / (large.samples - small.samples);
  const double at_zero = small.device_ns - per_sample * small.samples;
  if (per_sample <= 0 || at_zero < -kBelowZero * large.device_ns) return std::nullopt;
  const double longest = kMoreHost * std::max(small.step_ns, large.device_ns);
  if (waits_for_host(large) && large.step_ns > longest) return std::nullopt;
  const double samples = 2 * large.samples;
  const double line = at_zero + per_sample * samples;
  // Where the device waits, the step is the host's time; where it does not, what little it idles
  // stays.
  const double floor = waits_for_host(large)   ? large.step_ns
                       : waits_for_host(small) ? small.step_ns
                                               : 0.0;
  const double idle = waits_for_host(large) ? 0.0 : large.step_ns - large.device_ns;
  return BatchPoint{.samples = samples, .step_ns = std::max(floor, line + idle)};
}

std::string batch_note(const BatchSize& one, const BatchSize& other, const BatchPoint& point) {
  const BatchSize& small = one.samples < other.samples ? one : other;
  const BatchSize& large = one.samples < other.samples ? other : one;
  const double gain = point.samples / point.step_ns / (large.samples / large.step_ns);
  return "Two batches were recorded: " + samples_text(small.samples) + " samples a step take " +
         step_text(small.step_ns) + ", " + samples_text(large.samples) + " take " +
         step_text(large.step_ns) + ", without what is done only once. " +
         samples_text(point.samples) + " would take about " + step_text(point.step_ns) + ", " +
         real_text(gain) +
         " times the samples per second: the device's time grows with the "
         "batch, the host's does not.";
}

}  // namespace fathom
