// The one table of which check harms which numbers.
#include "engine/diagnosis/harm.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace fathom {
namespace {

using Numbers = std::span<const std::string_view>;

/// Lists one after the other, as one.
template <std::size_t... Sizes>
constexpr auto joined(const std::string_view (&... lists)[Sizes]) {
  std::array<std::string_view, (Sizes + ...)> all{};
  auto* at = all.data();
  ((at = std::ranges::copy(lists, at).out), ...);
  return all;
}

/// How long steps take.
constexpr std::string_view kStepTimes[] = {
    "diagnosis.step_mean_ns", "diagnosis.step_median_ns", "diagnosis.step_stddev_ns",
    "diagnosis.step_min_ns",  "diagnosis.steps",          "diagnosis.samples_per_second"};

/// What devices do for operators.
constexpr std::string_view kDeviceOfOps[] = {"ops.device_total_ns", "ops.device_self_ns",
                                             "ops.device_mean_ns", "ops.device_total_percent",
                                             "ops.device_self_percent"};

/// What was recorded cannot be less than what there was, means can be right: sums and counts.
constexpr std::string_view kTotals[] = {
    "*.calls",        "*.total_ns",           "*.self_ns",         "*.host_total_ns",
    "*.host_self_ns", "*.device_total_ns",    "*.device_self_ns",  "*.time_ns",
    "*.samples",      "copies.count",         "copies.bytes",      "roofline.flops",
    "ops.flops",      "diagnosis.account_ns", "diagnosis.steps",   "diagnosis.peak_allocated_bytes",
    "memory.peak",    "timeline.total_ns",    "timeline.slices",   "flame.total_ns",
    "compare.calls",  "ranks.waited_ns",      "ranks.made_wait_ns"};

/// Device work is missing: what a device did, how long it was idle, and all that follows from it.
constexpr std::string_view kDevice[] = {"*.device_total_ns",
                                        "*.device_self_ns",
                                        "*.device_mean_ns",
                                        "*.device_total_percent",
                                        "*.device_self_percent",
                                        "*.device_ns",
                                        "*.device_idle_ns",
                                        "*.backward_device_ns",
                                        "*.busy_ns",
                                        "*.busy_percent",
                                        "*.idle_after_ns",
                                        "accounting.*",
                                        "gaps.*",
                                        "critical-path.*",
                                        "kernels.calls",
                                        "kernels.total_ns",
                                        "kernels.percent",
                                        "copies.count",
                                        "copies.total_ns",
                                        "copies.bytes",
                                        "copies.percent",
                                        "roofline.*",
                                        "launches.activities",
                                        "launches.queue_depth_mean",
                                        "launches.queue_depth_max",
                                        "steps.compute_ns",
                                        "steps.exposed_communication_ns",
                                        "steps.exposed_memcpy_ns",
                                        "steps.exposed_memset_ns",
                                        "steps.idle_ns",
                                        "steps.communication_ns",
                                        "steps.memcpy_ns",
                                        "steps.kernels",
                                        "diagnosis.account_ns",
                                        "diagnosis.usual_account_ns",
                                        "diagnosis.device_busy_percent",
                                        "diagnosis.mfu_percent",
                                        "diagnosis.predicted_step_ns",
                                        "diagnosis.families",
                                        "diagnosis.operators",
                                        "diagnosis.replay_residual_percent",
                                        "whatif.step_mean_ns",
                                        "timeline.account_ns",
                                        "compare.change_ns",
                                        "ranks.communication_ns",
                                        "ranks.waited_ns",
                                        "ranks.made_wait_ns"};

/// It is not known which host call started what a device did.
constexpr auto kAttribution = joined(
    kDeviceOfOps, {"modules.device_total_ns", "modules.device_self_ns", "modules.backward_host_ns",
                   "modules.backward_device_ns", "modules.device_total_percent", "lines.device_ns",
                   "lines.backward_device_ns", "lines.device_idle_ns", "stacks.total_ns",
                   "stacks.percent", "stacks.calls", "launches.*", "roofline.*",
                   "diagnosis.operators", "diagnosis.predicted_step_ns", "whatif.step_mean_ns"});

/// No host call was recorded: nor what the host waited for, nor what a device idled for.
constexpr auto kNoCalls = joined(
    kDeviceOfOps,
    {"modules.device_total_ns", "modules.device_self_ns", "modules.device_total_percent",
     "lines.device_ns", "stacks.total_ns", "stacks.percent", "stacks.calls", "launches.*",
     "syncs.*", "gaps.cause_percent", "critical-path.*", "accounting.*", "diagnosis.account_ns",
     "diagnosis.usual_account_ns", "diagnosis.operators", "diagnosis.families",
     "diagnosis.predicted_step_ns", "timeline.account_ns", "whatif.step_mean_ns"});

/// The clocks of host and device disagree.
constexpr std::string_view kClocks[] = {"launches.delay_median_ns",
                                        "launches.delay_mean_ns",
                                        "launches.delay_max_ns",
                                        "launches.queue_depth_mean",
                                        "launches.queue_depth_max",
                                        "gaps.*",
                                        "syncs.idle_after_ns",
                                        "critical-path.*",
                                        "accounting.*",
                                        "steps.busy_ns",
                                        "steps.idle_ns",
                                        "steps.busy_percent",
                                        "diagnosis.account_ns",
                                        "diagnosis.usual_account_ns",
                                        "diagnosis.device_busy_percent",
                                        "diagnosis.families",
                                        "diagnosis.predicted_step_ns",
                                        "diagnosis.replay_residual_percent",
                                        "timeline.account_ns",
                                        "whatif.step_mean_ns",
                                        "compare.change_ns"};

/// Durations of single slices were not to be believed, and count as zero.
constexpr std::string_view kDurations[] = {"*.total_ns",
                                           "*.self_ns",
                                           "*.mean_ns",
                                           "*.min_ns",
                                           "*.max_ns",
                                           "*.stddev_ns",
                                           "*.host_total_ns",
                                           "*.host_self_ns",
                                           "*.host_mean_ns",
                                           "*.host_max_ns",
                                           "*.device_total_ns",
                                           "*.device_self_ns",
                                           "*.device_mean_ns",
                                           "*.busy_ns",
                                           "accounting.*",
                                           "diagnosis.account_ns",
                                           "diagnosis.usual_account_ns",
                                           "diagnosis.operators",
                                           "timeline.total_ns",
                                           "timeline.account_ns",
                                           "flame.total_ns",
                                           "compare.change_ns"};

constexpr std::string_view kSelfTimes[] = {"*.self_ns", "*.self_percent", "*.host_self_ns",
                                           "*.host_self_percent", "diagnosis.operators"};

/// Profiling itself took much of the time.
constexpr auto kHost = joined(
    {"*.host_total_ns", "*.host_self_ns", "*.host_mean_ns", "*.host_span_ns", "*.window_ns",
     "*.idle_ns", "*.busy_percent", "*.device_idle_ns", "accounting.*", "gaps.*",
     "critical-path.*"},
    kStepTimes,
    {"diagnosis.account_ns", "diagnosis.usual_account_ns", "diagnosis.device_busy_percent",
     "diagnosis.mfu_percent", "diagnosis.families", "diagnosis.predicted_step_ns",
     "timeline.account_ns", "whatif.step_mean_ns", "compare.change_ns", "ranks.step_mean_ns"});

/// Some steps are not what steps are.
constexpr auto kSteps =
    joined({"steps.*"}, kStepTimes, {"compare.change_ns", "ranks.step_mean_ns"});

constexpr Numbers kNone;

constexpr Harm kHarms[] = {
    // What reading repaired or left out.
    {"truncated", kTotals},
    {"malformed_event", kTotals},
    {"missing_close", kTotals},
    {"not_a_number", kTotals},
    {"number_out_of_range", kTotals},
    {"missing_time", kTotals},
    {"zero_time", kTotals},
    {"unmatched_begin", kDurations},
    {"unmatched_end", kTotals},
    {"too_deep", kTotals},
    {"wrong_type", kTotals},
    {"damaged_block", kTotals},
    {"decompression", kTotals},
    {"dropped_records", kTotals},
    {"missing_block", kTotals},
    {"unknown_phase", kTotals},
    // What the recorder dropped.
    {"records_out_of_range", kDevice},
    {"records_out_of_order", kDevice},
    {"unexpected_records", kDevice},
    {"stopped_early", kDevice},
    {"invalid_correlations", kAttribution},
    // What goes with what.
    {"device_activity_missing", kDevice},
    {"runtime_calls_missing", kNoCalls},
    {"activities_without_launch", kAttribution},
    {"launches_without_activity", kDevice},
    {"activities_before_launch", kClocks},
    {"missing_streams", kDevice},
    {"event_waits_without_record", kClocks},
    {"broken_nesting", kSelfTimes},
    // Times.
    {"negative_duration", kDurations},
    {"absurd_duration", kDurations},
    {"negative_durations", kDurations},
    {"absurd_durations", kDurations},
    {"lost_times", kTotals},
    {"zero_durations_device", kDevice},
    {"work_after_wait", kClocks},
    {"few_steps", kSteps},
    {"warm_up_inside", kSteps},
    {"missing_steps", kSteps},
    // The recorder.
    {"profiler_overhead", kHost},
    {"cupti_kernels_lost", kDevice},
    {"cupti_first_kernels_lost", kDevice},
    {"cupti_no_kernels", kDevice},
    {"told_otherwise", kDevice},
    // What changes no number, or is never worse than a note.
    {"repairs", {}},
    {"trailing_comma", {}},
    {"missing_comma", {}},
    {"trailing_garbage", {}},
    {"invalid_escape", {}},
    {"control_character", {}},
    {"unescaped_quote", {}},
    {"invalid_utf8", {}},
    {"duplicate_key", {}},
    {"unknown", {}},
    {"recorder_warnings", {}},
    {"graph_kernels_without_node", {}},
    {"overlap_on_stream", {}},
    {"zero_durations_host", {}},
    {"time_resolution", {}},
    {"clocks_of_sources", {}},
    {"recorded_twice", {}},
    {"steps_marked", {}},
    {"shapes_recorded", {}},
    {"stacks_recorded", {}},
    {"memory_recorded", {}},
    {"device_properties", {}},
    {"launch_configuration", {}},
    {"collective_metadata", {}},
    {"cupti_device_waits", {}},
    {"cupti_crashes", {}},
    {"cupti_graph_links", {}},
};

constexpr auto kBeside = joined(kStepTimes, {"diagnosis.account_ns",
                                             "diagnosis.usual_account_ns",
                                             "diagnosis.device_busy_percent",
                                             "diagnosis.mfu_percent",
                                             "diagnosis.peak_allocated_bytes",
                                             "diagnosis.families",
                                             "diagnosis.operators",
                                             "diagnosis.predicted_step_ns",
                                             "diagnosis.replay_residual_percent",
                                             "whatif.step_mean_ns",
                                             "memory.peak",
                                             "timeline.total_ns",
                                             "timeline.slices",
                                             "timeline.account_ns",
                                             "flame.total_ns",
                                             "compare.change_ns",
                                             "compare.calls",
                                             "ranks.step_mean_ns",
                                             "ranks.communication_ns",
                                             "ranks.waited_ns",
                                             "ranks.made_wait_ns"});

}  // namespace

std::span<const Harm> harms() { return kHarms; }

std::span<const std::string_view> numbers_beside_reports() { return kBeside; }

std::span<const std::string_view> harmed_by(const HealthCheck& check) {
  const bool failed =
      check.status == CheckStatus::bad || (check.loss && check.status == CheckStatus::warning);
  if (!failed) return kNone;
  const auto* const at = std::ranges::find(kHarms, check.id, &Harm::check);
  return at == std::end(kHarms) ? kNone : at->numbers;
}

}  // namespace fathom
