// Divides what a recording holds among the statements, each thing by its own rule.
#include "analysis/lines/line_shares.h"

#include <algorithm>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/credit.h"
#include "analysis/accounting/syncs.h"
#include "analysis/lines/line_memory.h"
#include "analysis/lines/line_owners.h"
#include "analysis/lines/line_runs.h"
#include "analysis/lines/saturated.h"

namespace fathom {
namespace {

Interval cut(Interval stretch, Interval window) {
  const Time begin = std::max(stretch.begin, window.begin);
  return {begin, std::max(begin, std::min(stretch.end, window.end))};
}

class Dividing {
 public:
  Dividing(const Context& context, LineShares& shares)
      : context_(context),
        trace_(context.trace),
        window_(context.window()),
        runs_(context.trace),
        owners_(context, runs_),
        shares_(shares) {}

  void host();
  void operators();
  void devices();
  void syncs();
  void copies();
  void memory() { add_line_memory(context_, owners_, shares_); }

 private:
  /// A stretch of a device that one activity is credited with.
  struct Credit {
    Interval interval{};
    SliceId activity{};
  };
  struct Credits {
    std::int32_t device = 0;
    std::vector<Credit> credits;  ///< By time, disjoint.
  };

  LineShare& of(const LineShares::Key& line) { return shares_.shares[line]; }
  /// Of a slice of a host thread; of an invalid one nobody's.
  [[nodiscard]] LineOwners::Owner owner_of(SliceId slice) const { return owners_.of(slice); }
  [[nodiscard]] SliceId launch_of(SliceId activity) const {
    return context_.links().launch[activity.row()];
  }
  [[nodiscard]] bool selects(std::int32_t device) const {
    return !context_.selection.device || *context_.selection.device == device;
  }
  void idle(const DeviceAccounting& device);
  [[nodiscard]] const LineRuns::Thread* explaining(std::int32_t device, SliceId launch) const;
  void awaited(const SyncCall& sync);

  const Context& context_;
  const Trace& trace_;
  Interval window_;
  LineRuns runs_;
  LineOwners owners_;
  LineShares& shares_;
  std::vector<Credits> credits_;
};

void Dividing::host() {
  for (const LineRuns::Thread& thread : runs_.threads()) {
    thread.each_part(window_, [&](Interval part, StringId statement) {
      of({thread.pid, statement}).host += part.length();
    });
  }
}

/// An operator's time is that of all slices inside of it, each without those inside of these.
void Dividing::operators() {
  const Selector selector = context_.selector();
  const Nesting& nesting = context_.nesting();
  const Column<Duration> self = self_times(trace_, nesting);
  std::vector<bool> inside(trace_.slices.size());
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) {
      const SliceId parent = nesting.parent[slice.row()];
      const bool within =
          trace_.kind(slice) == SliceKind::cpu_op || (parent.valid() && inside[parent.row()]);
      inside[slice.row()] = within;
      if (!within || !selector.host(trace_, slice)) continue;
      const LineOwners::Owner owner = owner_of(slice);
      LineShare& share = of(owner.line);
      (owner.backward ? share.backward_operators : share.operators) += self[slice.row()];
    }
  }
}

void Dividing::devices() {
  for (const DeviceTimeline& timeline : context_.timelines().devices) {
    Credits& device = credits_.emplace_back();
    device.device = timeline.device;
    for_each_credit(trace_, context_.timelines(), timeline,
                    [&device](SliceId activity, Interval interval) {
                      device.credits.push_back({interval, activity});
                    });
    std::ranges::sort(device.credits, {}, [](const Credit& one) { return one.interval.begin; });
    if (!selects(timeline.device)) continue;
    for (const Credit& credit : device.credits) {
      const Interval part = cut(credit.interval, window_);
      if (part.begin == part.end) continue;
      const LineOwners::Owner owner = owner_of(launch_of(credit.activity));
      LineShare& share = of(owner.line);
      (owner.backward ? share.backward_device : share.device) += part.length();
    }
    if (const DeviceAccounting* const accounting = context_.accounting().find(timeline.device))
      idle(*accounting);
  }
}

/// What the host explains is the statement's that its thread was in; what comes after a launch, the
/// launching one's.
void Dividing::idle(const DeviceAccounting& device) {
  for (const IdlePiece& piece : device.pieces) {
    const Interval part = cut(piece.interval, window_);
    if (part.begin == part.end) continue;
    const SliceId launch = device.gaps[piece.gap].launch;
    const bool host = piece.cause <= Bucket::python || piece.cause == Bucket::warm_up;
    const LineRuns::Thread* const thread = host ? explaining(device.device, launch) : nullptr;
    if (thread != nullptr) {
      thread->each_part(part, [&](Interval stretch, StringId statement) {
        of({thread->pid, statement}).idle += stretch.length();
      });
    } else if (host || piece.cause == Bucket::host_unknown) {
      of({}).idle += part.length();
    } else {
      of(owner_of(launch).line).idle += part.length();
    }
  }
}

/// The thread that launched, where it was in statements itself; else, and where nothing more is
/// launched, the leading one of the process that uses the device.
const LineRuns::Thread* Dividing::explaining(std::int32_t device, SliceId launch) const {
  if (!launch.valid()) {
    for (const SliceId activity : context_.timelines().find(device)->activities) {
      launch = launch_of(activity);
      if (launch.valid()) return runs_.leader_of(trace_.slices.track[launch.row()]);
    }
    return nullptr;
  }
  const TrackId track = trace_.slices.track[launch.row()];
  const LineRuns::Thread* const own = runs_.of(track);
  return own != nullptr ? own : runs_.leader_of(track);
}

void Dividing::syncs() {
  const Selector selector = context_.selector();
  for (const SyncCall& sync : compute_syncs(context_)) {
    if (!selector.host(trace_, sync.call)) continue;
    if (selector.device && sync.device != selector.device) continue;
    of(owner_of(sync.call).line).blocked += trace_.slices.duration[sync.call.row()];
    awaited(sync);
  }
}

/// The part of a wait in which the device was idle is for nobody's work.
void Dividing::awaited(const SyncCall& sync) {
  const Interval wait{trace_.slices.start[sync.call.row()], trace_.slices.end(sync.call)};
  Duration rest = wait.length();
  const auto device = std::ranges::find_if(
      credits_, [&sync](const Credits& one) { return sync.device && one.device == *sync.device; });
  if (device != credits_.end()) {
    auto credit = std::ranges::partition_point(
        device->credits, [&wait](const Credit& one) { return one.interval.end <= wait.begin; });
    for (; credit != device->credits.end() && credit->interval.begin < wait.end; ++credit) {
      const Duration part = cut(credit->interval, wait).length();
      of(owner_of(launch_of(credit->activity)).line).awaited += part;
      rest -= part;
    }
  }
  const TrackId track = trace_.slices.track[sync.call.row()];
  of({trace_.tracks[track.row()].pid, StringId()}).awaited += rest;
}

void Dividing::copies() {
  const Selector selector = context_.selector();
  for (const SliceId activity : context_.links().activities) {
    const std::uint32_t detail = trace_.slices.detail[activity.row()];
    if (trace_.kind(activity) != SliceKind::memcpy || detail == SliceId::kNone ||
        trace_.copies.bytes[detail] == kAbsent || !selector.activity(trace_, activity))
      continue;
    add_saturated(of(owner_of(launch_of(activity)).line).copied, trace_.copies.bytes[detail]);
  }
}

}  // namespace

LineShare& LineShare::operator+=(const LineShare& other) {
  host += other.host;
  operators += other.operators;
  backward_operators += other.backward_operators;
  blocked += other.blocked;
  awaited += other.awaited;
  device += other.device;
  backward_device += other.backward_device;
  idle += other.idle;
  add_saturated(host_allocated, other.host_allocated);
  add_saturated(device_allocated, other.device_allocated);
  add_saturated(host_held, other.host_held);
  add_saturated(device_held, other.device_held);
  add_saturated(copied, other.copied);
  return *this;
}

LineShares compute_line_shares(const Context& context) {
  LineShares shares;
  shares.timeline = LineRuns::recorded(context.trace);
  shares.memory = context.trace.memory.size() > 0;
  if (!shares.timeline) return shares;
  shares.devices = !context.timelines().devices.empty();
  Dividing dividing(context, shares);
  dividing.host();
  dividing.operators();
  dividing.devices();
  dividing.syncs();
  dividing.copies();
  dividing.memory();
  return shares;
}

}  // namespace fathom
