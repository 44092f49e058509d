// Classifies host slices by name and kind, and finds the thread that leads each process.
#include "analysis/accounting/threads.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/structure/answering.h"
#include "analysis/structure/phases.h"
#include "analysis/structure/program_ranges.h"
#include "store/profiler_step.h"

namespace fathom {
namespace {

constexpr std::uint8_t kUnknown = 0xf;

Bucket state_of_name(std::string_view name, SliceKind kind) {
  if (phase_of_name(name, kind) == Phase::data) return Bucket::input;
  return kind == SliceKind::user_annotation || is_named_annotation(name) ? Bucket::python
                                                                         : Bucket::dispatch;
}

bool has_fetch_annotations(const Trace& trace) {
  for (std::size_t row = 0; row < trace.strings.size(); ++row) {
    if (trace.text(StringId(row)).starts_with("enumerate(Data")) return true;
  }
  return false;
}

/// How strongly a thread leads its process; compared in this order.
struct Lead {
  Duration steps{};
  Duration forward{};  ///< In operators that are not of the backward pass.
  Duration operators{};
  friend auto operator<=>(const Lead& a, const Lead& b) {
    return std::tie(a.steps, a.forward, a.operators) <=> std::tie(b.steps, b.forward, b.operators);
  }
};

/// The time of a thread's outermost operators and calls.
Lead operator_time(const Context& context, const HostThreads& threads,
                   const Nesting::Thread& thread) {
  Lead lead;
  const Slices& slices = context.trace.slices;
  Time covered = Time::min();
  for (const SliceId slice : thread.slices) {
    const Time end = slices.end(slice);
    if (end <= covered || threads.state(slice) == Bucket::python) continue;
    const Duration time = end - std::max(covered, slices.start[slice.row()]);
    covered = end;
    lead.operators += time;
    if (context.phases()[slice] != Phase::backward) lead.forward += time;
  }
  return lead;
}

}  // namespace

HostThreads::HostThreads(const Context& context)
    : context_(context),
      trace_(context.trace),
      syncs_(trace_, context.links()),
      work_(trace_.tracks.size()),
      frames_(trace_.tracks.size()),
      fetches_(trace_.tracks.size()),
      state_of_name_(trace_.strings.size(), kUnknown | kUnknown << 4) {
  sync_notes_.resize(trace_.slices.size());
  state_notes_.resize(trace_.slices.size());
  owner_notes_.resize(trace_.slices.size());
  for (std::size_t i = 0; i < trace_.categories.size(); ++i) kinds_[i] = trace_.categories[i].kind;
  for (const Nesting::Thread& thread : context.nesting().work) work_[thread.track.row()] = &thread;
  for (const Nesting::Thread& thread : context.nesting().frames) {
    frames_[thread.track.row()] = &thread;
  }
  ranges_ = ranges_among_operators(trace_, context.nesting());
  find_mains();
  if (!context.nesting().frames.empty() && !has_fetch_annotations(trace_)) find_fetches();
}

Bucket HostThreads::state(SliceId slice) const {
  const SliceKind kind = kind_of(slice);
  switch (kind) {
    case SliceKind::runtime:
    case SliceKind::driver:
      if (context_.links().call_kind(trace_, slice) == CallKind::allocate)
        return Bucket::allocation;
      return syncs_.of(slice) ? Bucket::sync : Bucket::dispatch;
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
    case SliceKind::other:
      break;
    default:
      return Bucket::dispatch;
  }
  const StringId name = trace_.slices.name[slice.row()];
  const unsigned shift = kind == SliceKind::user_annotation ? 4 : 0;
  std::uint8_t& known = state_of_name_[name.row()];
  const auto state = static_cast<std::uint8_t>(known >> shift & kUnknown);
  if (state != kUnknown) return static_cast<Bucket>(state);
  const Bucket found = state_of_name(trace_.text(name), kind);
  known = static_cast<std::uint8_t>((known & ~(unsigned{kUnknown} << shift)) |
                                    static_cast<unsigned>(found) << shift);
  return found;
}

SliceKind HostThreads::kind_of(SliceId slice) const {
  const SliceKind kind = kinds_[trace_.slices.category[slice.row()]];
  const bool range = kind == SliceKind::cpu_op && !ranges_.empty() &&
                     ranges_[trace_.slices.name[slice.row()].row()];
  return range ? SliceKind::user_annotation : kind;
}

bool HostThreads::is_operator(SliceId slice) const {
  const SliceKind kind = kind_of(slice);
  if (kind == SliceKind::other) return true;
  if (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation) return false;
  return state(slice) != Bucket::python;
}

SliceId HostThreads::sync_around(SliceId around, Time at) const {
  const SliceId call =
      outermost_around(sync_notes_, context_.nesting().parent, around,
                       [this](SliceId slice) { return state(slice) == Bucket::sync; });
  // What is inside it ends no later.
  return call.valid() && trace_.slices.end(call) >= at ? call : SliceId();
}

Bucket HostThreads::state_around(SliceId slice) const {
  // The stronger, the larger; python is 0.
  const auto strength = [](Bucket bucket) {
    return static_cast<std::uint32_t>(Bucket::python) - static_cast<std::uint32_t>(bucket);
  };
  const std::uint32_t strongest = state_notes_.of(
      context_.nesting().parent, slice,
      [&](std::uint32_t outside, SliceId at) { return std::max(outside, strength(state(at))); });
  return static_cast<Bucket>(static_cast<std::uint32_t>(Bucket::python) - strongest);
}

SliceId HostThreads::owner_around(SliceId slice) const {
  const Column<SliceId>& parent = context_.nesting().parent;
  return innermost_around(owner_notes_, parent, slice, [&](SliceId at) {
    return is_operator(at) && state_around(parent[at.row()]) != Bucket::input;
  });
}

TrackId HostThreads::main_of(StringId process) const {
  const auto at = mains_.find(process);
  return at == mains_.end() ? TrackId() : at->second;
}

void HostThreads::find_mains() {
  std::map<TrackId, Lead> leads;
  const Steps& steps = context_.steps();
  answering_ = answering_threads(trace_, steps);
  if (steps.source == StepSource::profiler_step) {
    for (const Step& step : steps.steps) {
      leads[of(step)].steps += step.host.length();
      mains_.try_emplace(step.process);
    }
  }
  for (const Nesting::Thread& thread : context_.nesting().work) {
    // Steps decide before operators do: those of threads without steps need not be added up.
    if (mains_.contains(trace_.tracks[thread.track.row()].process)) continue;
    leads[thread.track] = operator_time(context_, *this, thread);
  }
  Lead most;
  for (const auto& [track, lead] : leads) {
    TrackId& main = mains_[trace_.tracks[track.row()].process];
    if (!main.valid() || lead > leads[main]) main = track;
    if (main_.valid() && lead <= most) continue;
    main_ = track;
    most = lead;
  }
}

void HostThreads::find_fetches() {
  std::vector<std::uint8_t> known(trace_.strings.size());  // 0: not looked at, 1: no, 2: yes
  for (const Nesting::Thread& thread : context_.nesting().frames) {
    std::vector<Interval>& fetches = fetches_[thread.track.row()];
    for (const SliceId frame : thread.slices) {
      std::uint8_t& is_fetch = known[trace_.slices.name[frame.row()].row()];
      if (is_fetch == 0) {
        is_fetch = phase_of_frame(trace_.name(frame)) == Phase::data ? 2 : 1;
      }
      if (is_fetch == 1) continue;
      const Interval own{trace_.slices.start[frame.row()], trace_.slices.end(frame)};
      if (fetches.empty() || own.begin >= fetches.back().end) {
        fetches.push_back(own);
      } else {
        fetches.back().end = std::max(fetches.back().end, own.end);
      }
    }
  }
}

}  // namespace fathom
