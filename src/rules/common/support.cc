#include "rules/common/support.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/kernels/occupancy.h"

namespace fathom {
namespace {

constexpr std::size_t kExamples = 8;
/// What only exists where work goes to a device.
constexpr auto kDeviceNames = std::to_array<std::string_view>(
    {"nccl:", "rccl:", "aten::record_stream", "aten::cudnn_", "aten::_cudnn_", "aten::miopen_"});
/// Only asks, on any processor: an LSTM does.
constexpr std::string_view kDeviceQuestion = "aten::cudnn_is_acceptable";

Duration scaled(Duration time, double fraction) {
  return duration_ns(static_cast<std::int64_t>(static_cast<double>(to_ns(time)) * fraction));
}

/// Were fewer than half of the kernels recorded that calls launched? What looks idle may then be
/// busy. A graph launch counts as one kernel, of which it starts at least as many.
bool kernels_missing(const Context& context) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  if (links.launches_without_activity == 0) return false;
  const auto kernels =
      static_cast<std::size_t>(std::ranges::count_if(links.activities, [&trace](SliceId activity) {
        return trace.kind(activity) == SliceKind::kernel;
      }));
  return 2 * kernels < links.kernel_launches;
}

/// What a slice may be blamed for at most.
Duration own_time(const RuleContext& rules, SliceId slice) {
  if (is_device_activity(rules.trace().kind(slice))) {
    return rules.accounting.credited[slice.row()];
  }
  return rules.self_times[slice.row()];
}

}  // namespace

bool device_unrecorded(const RuleContext& rules) {
  if (rules.device >= 0) return kernels_missing(rules.context);
  const auto of_devices = [](std::string_view name) {
    return name != kDeviceQuestion &&
           std::ranges::any_of(kDeviceNames,
                               [name](std::string_view word) { return name.starts_with(word); });
  };
  return rules.context.links().launches_without_activity > 0 ||
         NameSet(rules.trace(), of_devices).any();
}

bool only_annotations(const RuleContext& rules) {
  const auto works = [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || category.kind == SliceKind::runtime ||
            category.kind == SliceKind::driver);
  };
  return rules.context.nesting().frames.empty() &&
         std::ranges::none_of(rules.trace().categories, works);
}

SliceId enclosing(const RuleContext& rules, SliceId slice, const NameSet& names) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  SliceId at = slice;
  while (at.valid() && !names.contains(trace.slices.name[at.row()])) at = parent[at.row()];
  return at;
}

bool counts(const RuleContext& rules, SliceId slice) {
  const Trace& trace = rules.trace();
  if (is_device_activity(trace.kind(slice)) && trace.track(slice).device != rules.device) {
    return false;
  }
  return rules.counts(trace.slices.start[slice.row()]);
}

const Signature* signature_of(const Trace& trace, SliceId op) {
  if (!op.valid()) return nullptr;
  const std::uint32_t detail = trace.slices.detail[op.row()];
  const SliceKind kind = trace.kind(op);
  if (detail == SliceId::kNone ||
      (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation)) {
    return nullptr;
  }
  const SignatureId signature = trace.ops.signature[detail];
  return signature.valid() ? &trace.signatures[signature.row()] : nullptr;
}

bool has_shapes(const Trace& trace) {
  return std::ranges::any_of(trace.signatures,
                             [](const Signature& signature) { return signature.shapes.valid(); });
}

const Device* device_of(const RuleContext& rules) {
  return rules.device < 0 ? nullptr : device_properties(rules.trace(), rules.device);
}

void Blamed::add(const RuleContext& rules, SliceId activity, SliceId op) {
  activities.push_back(activity);
  if (op.valid()) ops.push_back(op);
  time += own_time(rules, activity);
}

void claim_blamed(const RuleContext& rules, const Blamed& blamed, double fraction,
                  Finding& finding) {
  for (const SliceId activity : blamed.activities) {
    finding.claims.push_back(claim(rules, activity, fraction));
    finding.edits.scale.emplace_back(activity, static_cast<float>(1.0 - fraction));
  }
}

Evidence evidence_of(const RuleContext& rules, const Blamed& blamed, std::string text) {
  const Trace& trace = rules.trace();
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.slices = costliest(trace, blamed.activities);
  if (!evidence.slices.empty()) {
    const SliceId worst = evidence.slices.front();
    evidence.where = Interval{trace.slices.start[worst.row()], trace.slices.end(worst)};
    const bool on_device = is_device_activity(trace.kind(worst));
    const SliceId op = on_device ? rules.context.links().op[worst.row()] : worst;
    if (op.valid()) evidence.location = rules.sites.of(op);
  }
  return evidence;
}

Claim claim(const RuleContext& rules, SliceId slice, double fraction) {
  return {.slice = slice, .time = scaled(own_time(rules, slice), fraction)};
}

Claim claim_gap(const RuleContext& rules, std::uint32_t gap, double fraction) {
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  return {.device = rules.device,
          .gap = gap,
          .time = scaled(rules.counted(device->gaps[gap].interval), fraction)};
}

std::span<const SliceId> tree(const RuleContext& rules, SliceId slice) {
  const Trace& trace = rules.trace();
  const TrackId track = trace.slices.track[slice.row()];
  const std::vector<Nesting::Thread>& threads = rules.context.nesting().work;
  const auto thread = std::ranges::find(threads, track, &Nesting::Thread::track);
  if (thread == threads.end()) return {};
  const auto start_of = [&trace](SliceId at) { return trace.slices.start[at.row()]; };
  const auto begin = std::ranges::lower_bound(thread->slices, start_of(slice), {}, start_of);
  const auto end =
      std::ranges::upper_bound(begin, thread->slices.end(), start_of(slice), {}, start_of);
  const auto first = std::find(begin, end, slice);
  if (first == end) return {};
  const auto last = std::ranges::lower_bound(std::next(first), thread->slices.end(),
                                             trace.slices.end(slice), {}, start_of);
  return {first, last};
}

void claim_host_work(const RuleContext& rules, std::span<const SliceId> slices, double fraction,
                     std::vector<Claim>& claims, std::initializer_list<Bucket> causes) {
  const Trace& trace = rules.trace();
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  for (const SliceId slice : slices) {
    if (device == nullptr) {
      for (const SliceId inside : tree(rules, slice))
        claims.push_back(claim(rules, inside, fraction));
      continue;
    }
    const Time begin = trace.slices.start[slice.row()];
    const Time end = trace.slices.end(slice);
    auto piece = std::ranges::upper_bound(device->pieces, begin, {},
                                          [](const IdlePiece& at) { return at.interval.end; });
    for (; piece != device->pieces.end() && piece->interval.begin < end; ++piece) {
      if (std::ranges::find(causes, piece->cause) == causes.end()) continue;
      const Interval part{std::max(begin, piece->interval.begin),
                          std::min(end, piece->interval.end)};
      claims.push_back({.device = rules.device,
                        .gap = piece->gap,
                        .time = scaled(rules.counted(part), fraction)});
    }
  }
}

void scale_tree(const RuleContext& rules, SliceId slice, float factor, Edits& edits) {
  for (const SliceId inside : tree(rules, slice)) edits.scale.emplace_back(inside, factor);
}

Family family_of(HostBucket bucket) {
  switch (bucket) {
    case HostBucket::input:
      return Family::input;
    case HostBucket::communication:
      return Family::communication;
    case HostBucket::waiting:
      return Family::sync;
    case HostBucket::python:
      return Family::host;
    default:
      return Family::compute;
  }
}

Duration total(const std::vector<Claim>& claims) {
  Duration sum{};
  for (const Claim& claim : claims) sum += claim.time;
  return sum;
}

std::vector<SliceId> costliest(const Trace& trace, std::vector<SliceId> slices) {
  const auto longest = [&trace](SliceId slice) {
    return std::pair(-trace.slices.duration[slice.row()], slice);
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(slices.size(), kExamples));
  std::ranges::partial_sort(slices, slices.begin() + kept, {}, longest);
  slices.resize(static_cast<std::size_t>(kept));
  return slices;
}

std::string per_step(const RuleContext& rules, Duration whole) {
  const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(rules.steps.size(), 1));
  return duration_text(whole / steps) + " (" + percent_text(rules.percent(whole)) + " of the step)";
}

}  // namespace fathom
