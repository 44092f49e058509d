// The idle time of one device: its gaps, cut by cause, and what opened each.
#pragma once

#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/one_off.h"
#include "analysis/accounting/threads.h"
#include "analysis/accounting/waits.h"
#include "analysis/accounting/walk.h"
#include "analysis/context.h"
#include "analysis/structure/enclosing_ops.h"

namespace fathom {

/// Explains the idle time of devices, one after the other. Borrows what it is given.
class GapFinder {
 public:
  GapFinder(const Context& context, const HostThreads& threads, const EventWaits& waits,
            const OneOffWork& one_off, Duration launch_delay);

  /// All gaps of a device over the trace's span. O(activities + host slices in gaps + gaps * log
  /// n), and of host slices no more than a multiple of all for all devices together.
  DeviceAccounting find(const DeviceTimeline& timeline);

 private:
  /// Who explains a gap.
  struct Hosts {
    TrackId first{};   ///< The launching thread; the main thread where nothing is launched.
    TrackId second{};  ///< Whom it waits for or who feeds it; may be invalid.
  };

  void start_device(const DeviceTimeline& timeline);
  [[nodiscard]] Hosts hosts_of(SliceId launch) const;
  void add_gap(Interval interval, SliceId next);
  /// Is the device, before its first recorded work, busy with what was launched earlier?
  [[nodiscard]] bool runs_earlier_work(const Gap& gap) const;
  void explain_host(const Hosts& hosts, Interval interval);
  /// Of the host's state. A wait before the first recorded work of all devices is for what was
  /// launched before the recording (or the recorder's own), and after the last there is nothing
  /// that it could delay: what it costs is not known.
  void add_host_piece(Interval interval, Bucket state);
  void explain_device(Interval interval, Time launched, SliceId next);
  /// Adds idle time of that cause, but where its hosts do what they do only once.
  void add_piece(Interval interval, Bucket cause);
  void add_part(Interval interval, Bucket cause);
  void finish(Gap& gap, const Hosts& hosts);
  /// The innermost frame that covers at least half of the stretch, or invalid.
  [[nodiscard]] SliceId frame_of(const Nesting::Thread& frames, Interval stretch) const;
  [[nodiscard]] Opener opener_of(const Hosts& hosts, const Gap& gap, SliceId& call);
  [[nodiscard]] Interval longest_piece(Bucket cause) const;
  HostWalk& walk(TrackId track) { return walks_[track.row()]; }

  const Context& context_;
  const Trace& trace_;
  const HostThreads& threads_;
  const EventWaits& waits_;
  const OneOffWork& one_off_;
  Duration launch_delay_;
  EnclosingOps ops_;
  std::size_t stretches_left_;                   // of host work, that gaps may be explained by
  std::vector<HostWalk> walks_;                  // by track
  Interval recorded_{Time::max(), Time::min()};  // from the first activity to the end of the last

  // Of the device at hand.
  DeviceAccounting result_;
  TrackId main_;    // leads the process that launches most onto it
  TrackId feeder_;  // of that process's other threads, the one that launches most onto it
  std::vector<Time> launched_;  // by track: when the last activity of the stream was launched
  std::vector<std::uint32_t> launches_;  // by track, onto it; 0 between two devices

  // Of the gap at hand.
  std::size_t first_piece_ = 0;
  Hosts hosts_;
  LateOp late_;
};

}  // namespace fathom
