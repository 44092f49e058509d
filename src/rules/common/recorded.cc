// Looks through the trace for what recorders may leave out.
#include "rules/common/recorded.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/occupancy.h"
#include "base/quantity_text.h"
#include "rules/common/device_allocations.h"
#include "rules/common/host_steps.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

/// What only exists where work goes to a device.
constexpr auto kDeviceNames = std::to_array<std::string_view>(
    {"nccl:", "rccl:", "xccl:", "hccl:", "aten::record_stream", "aten::cudnn_", "aten::_cudnn_",
     "aten::miopen_", "aten::_mps_", "aten::mps_", "aten::_lstm_mps", "aten::lstm_mps_"});
/// Apple's GPUs have it, of which nothing is recorded, and nested tensors.
constexpr std::string_view kAppleOperator = "aten::linear_backward";
constexpr std::string_view kNested = "aten::_nested_";
/// The share of a device's memory from which on its use may limit a program (TraceML).
constexpr double kUsed = 0.3;

/// Percent of the counted time.
constexpr double kMostOnce = 50.0;

/// oneDNN's operators of PyTorch, which compute on processors only.
constexpr std::string_view kProcessorsOperator = "aten::mkldnn_";
/// The share of the step that they take where the model is on the processor.
constexpr double kOnProcessor = 25.0;

/// Only asks, on any processor: an LSTM does.
constexpr std::string_view kDeviceQuestion = "aten::cudnn_is_acceptable";

/// Calls that were captured into graphs: they start nothing.
struct Captured {
  std::uint64_t kernels = 0;  ///< Of these, launches of kernels and graphs.
  std::uint64_t all = 0;
};

Captured captured(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  std::map<TrackId, std::vector<Interval>> captures;
  for (const OneOff& work : rules.accounting.one_off.all()) {
    if (work.kind == OneOffKind::capture)
      captures[trace.slices.track[work.slice.row()]].push_back(work.interval);
  }
  Captured found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    const auto at = captures.find(thread.track);
    if (at == captures.end()) continue;
    auto capture = at->second.begin();
    for (const SliceId slice : thread.slices) {
      const Time start = trace.slices.start[slice.row()];
      while (capture != at->second.end() && capture->end <= start) ++capture;
      if (capture == at->second.end()) break;
      if (start < capture->begin || !is_runtime_call(trace.kind(slice))) continue;
      const CallKind call = links.call_kind(trace, slice);
      if (starts_activity(call)) ++found.all;
      if (call == CallKind::launch || call == CallKind::graph_launch) ++found.kernels;
    }
  }
  return found;
}

/// Were fewer than half of the kernels recorded that calls launched? What looks idle may then be
/// busy. A graph launch counts as one kernel, of which it starts at least as many.
bool kernels_missing(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  if (links.launches_without_activity == 0) return false;
  const auto kernels =
      static_cast<std::size_t>(std::ranges::count_if(links.activities, [&trace](SliceId activity) {
        return trace.kind(activity) == SliceKind::kernel;
      }));
  return 2 * kernels + captured(rules).kernels < links.kernel_launches;
}

bool on_apples_gpu(const Trace& trace) {
  const auto nested = [](std::string_view name) { return name.starts_with(kNested); };
  const auto apples = [](std::string_view name) { return name == kAppleOperator; };
  return NameSet(trace, apples).any() && !NameSet(trace, nested).any();
}

}  // namespace

bool only_a_rest(const RuleContext& rules) {
  const auto works = [](const Category& category) {
    return category.slices > 0 && category.kind == SliceKind::cpu_op;
  };
  return rules.device < 0 && rules.steps.size() == 1 &&
         rules.context.steps().source == StepSource::profiler_step && !has_calls(rules.trace()) &&
         std::ranges::none_of(rules.trace().categories, works);
}

bool has_shapes(const Trace& trace) {
  return std::ranges::any_of(trace.signatures,
                             [](const Signature& signature) { return signature.shapes.valid(); });
}

Duration warm_up_time(const RuleContext& rules) {
  Duration time{};
  if (const DeviceAccounting* const device = rules.accounting.find(rules.device)) {
    for (const IdlePiece& piece : device->pieces)
      if (piece.cause == Bucket::warm_up) time += rules.counted(piece.interval);
  }
  for (const HostPiece& piece : rules.accounting.host)
    if (piece.bucket == HostBucket::warm_up) time += rules.counted(piece.interval);
  return time;
}

bool mostly_once(const RuleContext& rules) {
  return rules.device >= 0 && rules.percent(warm_up_time(rules)) > kMostOnce;
}

bool has_calls(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.slices > 0 && is_runtime_call(category.kind);
  });
}

bool has_frames(const RuleContext& rules) { return !rules.context.nesting().frames.empty(); }

bool is_training(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Phases& phases = rules.context.phases();
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const Phase phase = phases[slice];
      if (phase != Phase::backward && phase != Phase::optimizer) continue;
      const Time start = trace.slices.start[slice.row()];
      if (rules.counts(start) || counts_on_host(rules, start)) return true;
    }
  }
  return false;
}

bool mostly_free(const RuleContext& rules, std::int64_t peak_bytes) {
  const Device* const device = device_of(rules);
  return device != nullptr && device->memory_bytes > 0 &&
         static_cast<double>(peak_bytes) < kUsed * static_cast<double>(device->memory_bytes);
}

const Device* device_of(const RuleContext& rules) {
  return rules.device < 0 ? nullptr : device_properties(rules.trace(), rules.device);
}

namespace {

bool is_of_devices(std::string_view name) {
  return name != kDeviceQuestion &&
         std::ranges::any_of(kDeviceNames,
                             [name](std::string_view word) { return name.starts_with(word); });
}

}  // namespace

bool device_unrecorded(const RuleContext& rules) {
  if (rules.device >= 0) return kernels_missing(rules);
  return device_allocations(rules) > 0 ||
         rules.context.links().launches_without_activity > captured(rules).all ||
         NameSet(rules.trace(), is_of_devices).any() || on_apples_gpu(rules.trace());
}

SliceId device_operator(const RuleContext& rules) {
  if (rules.device >= 0) return {};
  const Trace& trace = rules.trace();
  const bool apples = on_apples_gpu(trace);
  const NameSet names(trace, [apples](std::string_view name) {
    return is_of_devices(name) || (apples && name == kAppleOperator);
  });
  if (!names.any()) return {};
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices)
      if (names.contains(trace.slices.name[slice.row()])) return slice;
  }
  return {};
}

bool only_annotations(const RuleContext& rules) {
  const auto works = [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || is_runtime_call(category.kind));
  };
  return rules.context.nesting().frames.empty() &&
         std::ranges::none_of(rules.trace().categories, works);
}

namespace {

/// A device that the recording lists beside operators, with none of its work.
const Device* idle_device(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (rules.device >= 0 || trace.devices.empty() || device_unrecorded(rules)) return nullptr;
  const auto operators = [](const Category& category) {
    return category.kind == SliceKind::cpu_op && category.slices > 0;
  };
  if (std::ranges::none_of(trace.categories, operators)) return nullptr;
  return rules.context.timelines().devices.empty() ? trace.devices.data() : nullptr;
}

}  // namespace

std::string on_processor(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const std::size_t allocations = trace.memory.size();
  const bool processors =
      std::ranges::all_of(trace.memory.device_type, [](std::int8_t type) { return type == 0; });
  if (allocations > 0 && processors) {
    return "all " + count_text(static_cast<std::int64_t>(allocations)) +
           " recorded allocations are of the processor's memory";
  }
  const NameSet names(trace,
                      [](std::string_view name) { return name.starts_with(kProcessorsOperator); });
  if (!names.any()) return {};
  Duration sum{};
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      const SliceId around = rules.context.nesting().parent[slice.row()];
      const bool inner = around.valid() && names.contains(trace.slices.name[around.row()]);
      if (!names.contains(trace.slices.name[slice.row()]) || inner) continue;
      sum += rules.counted({trace.slices.start[slice.row()], trace.slices.end(slice)});
    }
  }
  if (rules.percent(sum) < kOnProcessor) return {};
  return "operators of oneDNN, which runs on processors, take " + percent_text(rules.percent(sum)) +
         " of the step";
}

const Device* unused_device(const RuleContext& rules) {
  const Device* const idle = idle_device(rules);
  if (idle == nullptr || has_calls(rules.trace())) return idle;
  return on_processor(rules).empty() ? nullptr : idle;
}

const Device* untraced_device(const RuleContext& rules) {
  const Device* const idle = idle_device(rules);
  return idle == nullptr || has_calls(rules.trace()) || !on_processor(rules).empty() ? nullptr
                                                                                     : idle;
}

bool only_calls(const RuleContext& rules) {
  const auto works = [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || category.kind == SliceKind::user_annotation ||
            category.kind == SliceKind::other);
  };
  if (std::ranges::any_of(rules.trace().categories, works)) return false;
  // Frames show what a program does beside a device, and what one does that calls no runtime.
  return !has_frames(rules) || (rules.device < 0 && has_calls(rules.trace()));
}

}  // namespace fathom
