// What the recording holds, and so what a rule can know.
#pragma once

#include <string>

#include "rules/rule.h"

namespace fathom {

/// Do any operators of the trace carry shapes?
bool has_shapes(const Trace& trace);

/// Does any Python frame exist?
bool has_frames(const RuleContext& rules);

/// Was a backward pass or an optimizer step recorded in the counted steps?
bool is_training(const RuleContext& rules);

/// The properties of the diagnosed device, or nullptr.
const Device* device_of(const RuleContext& rules);

/// True where work went to a device of which nothing was recorded, or less than half of the
/// kernels: then times of the host and idle times say little. O(names + slices).
bool device_unrecorded(const RuleContext& rules);

/// True where the host's operators, calls and Python frames were not recorded: nothing then shows
/// what ran inside its annotations.
bool only_annotations(const RuleContext& rules);

/// Is a single marked step, without an operator or a device's work, all that was recorded? A
/// profiler whose schedule starts again at the end of a program leaves such a rest behind.
bool only_a_rest(const RuleContext& rules);

/// How the recording shows, without a device's calls, that the model computed on the processor: all
/// of at least one recorded allocation was of the processor's memory, or oneDNN's operators, which
/// exist only there, take at least a quarter of the counted steps. "" where it does not.
std::string on_processor(const RuleContext& rules);

/// A device that the recording lists and on which nothing ran, where the program's operators ran on
/// the processor; else nullptr. A profiler that traces the device calls its runtime at least once;
/// where it was not traced, `on_processor` shows it.
const Device* unused_device(const RuleContext& rules);

/// A device that the recording lists beside operators, without a single call of its runtime: it was
/// not traced, and nothing shows whether the operators ran on it. Else nullptr.
const Device* untraced_device(const RuleContext& rules);

/// The counted time that one-off work takes, as the accounting has it: idle time of the diagnosed
/// device, or time of the main thread where no device's activity was recorded.
Duration warm_up_time(const RuleContext& rules);

/// Is more than half of the counted time spent idle on what is done only once? What else is seen
/// then is mostly the first of its kind, too.
bool mostly_once(const RuleContext& rules);

/// Does any call of a device's runtime exist?
bool has_calls(const Trace& trace);

/// Is it known that less than 30 % of the device's memory are in use at this peak, so that saving
/// memory makes room for nothing that is missing?
bool mostly_free(const RuleContext& rules, std::int64_t peak_bytes);

/// The first operator that only exists where work goes to a device, in a recording without one;
/// else invalid. O(names + slices).
SliceId device_operator(const RuleContext& rules);

/// True where neither operators nor ranges of the program were recorded, nor, beside a device's
/// work or without calls, Python frames: calls of the runtime are all that is known of the host.
bool only_calls(const RuleContext& rules);

}  // namespace fathom
