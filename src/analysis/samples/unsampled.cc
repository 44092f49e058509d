// Compares what was sampled with what the kernel counted.
#include "analysis/samples/unsampled.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analysis/util/json_list.h"
#include "store/sample_weights.h"

namespace fathom {
namespace {

/// The kernel may count in ticks, and counts what a process does before and after its threads run.
constexpr Duration kLeast = duration_ns(50'000'000);
constexpr double kLeastPart = 0.1;

/// What the recorder's own threads used is not among the samples.
Duration of_recorder(const Trace& trace) {
  const Fact* const fact = trace.fact("samples.of_recorder_ns");
  if (fact == nullptr) return {};
  const std::string_view text = json_unquoted(fact->value);
  std::int64_t ns = 0;
  std::from_chars(text.data(), text.data() + text.size(), ns);
  return duration_ns(std::max<std::int64_t>(0, ns));
}

}  // namespace

Duration unsampled_time(const Trace& trace) {
  if (!waits_are_known(trace) || trace.stack_samples.empty()) return {};
  if (trace.fact("samples.left_to_torch") != nullptr) return {};
  const auto main = std::ranges::find_if(
      trace.process_runs, [&](const ProcessRun& run) { return trace.text(run.role) == "main"; });
  if (main == trace.process_runs.end() || main->user_ns == kAbsent || main->system_ns == kAbsent)
    return {};
  Duration sampled = of_recorder(trace);
  for (const StackSample& sample : trace.stack_samples) sampled += sample.on_cpu;
  const Duration counted = duration_ns(main->user_ns) + duration_ns(main->system_ns);
  const double least = std::max(static_cast<double>(to_ns(kLeast)),
                                kLeastPart * static_cast<double>(to_ns(counted)));
  const Duration missed = counted - sampled;
  return static_cast<double>(to_ns(missed)) < least ? Duration{} : missed;
}

}  // namespace fathom
