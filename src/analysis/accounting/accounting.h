// Every nanosecond of a window in exactly one bucket, and each idle gap with its cause and opener.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/accounting/one_off.h"
#include "analysis/structure/activity_column.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

struct Context;

/// Where an instant of a device goes; docs/metrics.md has the rules. The first four are busy, the
/// rest are the causes of idleness.
enum class Bucket : std::uint8_t {
  compute,
  communication,   ///< Exposed: no compute kernel runs.
  memcpy,          ///< Exposed: no kernel runs.
  memset,          ///< Exposed: neither kernel nor copy runs.
  input,           ///< The launching thread was inside a data-loader fetch.
  allocation,      ///< … inside a call that allocates or frees device or pinned memory.
  sync,            ///< … blocked in a synchronising call.
  dispatch,        ///< … inside an operator or launching call.
  python,          ///< … in none of these.
  dependency,      ///< Launched, but waiting for an event, another stream or a peer.
  launch_latency,  ///< Launched, within the trace's median uncontended launch delay.
  device_wait,     ///< Launched, later than that, nothing shows why.
  host_unknown,    ///< The launch is not in the trace; or the launching thread was blocked before
                   ///< the first recorded activity of any device, or after the last.
  warm_up,         ///< Before all other causes: the host did what it does only once (OneOffWork).
};
inline constexpr std::size_t kBuckets = static_cast<std::size_t>(Bucket::warm_up) + 1;
constexpr bool is_idle(Bucket bucket) { return bucket >= Bucket::input; }
std::string_view to_string(Bucket bucket);

/// Durations over one window of one device; they sum to the window's length to the nanosecond.
struct Account {
  std::array<Duration, kBuckets> time{};  ///< By Bucket.
  [[nodiscard]] Duration operator[](Bucket bucket) const {
    return time[static_cast<std::size_t>(bucket)];
  }
  [[nodiscard]] Duration idle() const;
  [[nodiscard]] Duration total() const;
  Account& operator+=(const Account& other);
};

/// What let the device run dry.
enum class Opener : std::uint8_t {
  start,      ///< Nothing ran on the device before.
  sync_call,  ///< The host waited for the device: Gap::opener_call returned before it launched on.
  ran_dry,    ///< The queue was empty because the host came too late.
  waiting,    ///< Work was queued, and waited on the device's side.
  unknown,    ///< The launch of what ends it is not in the trace.
};
std::string_view to_string(Opener opener);

/// A stretch without any activity on a device, between two activities or at an end of the trace.
struct Gap {
  std::int32_t device = 0;
  Interval interval{};
  Opener opener = Opener::ran_dry;
  SliceId opener_call{};  ///< The synchronising call, or invalid.
  SliceId next{};         ///< The activity that ends it, or invalid at the end of the trace.
  SliceId launch{};       ///< The call that launched `next`, or invalid.
  SliceId late_op{};      ///< The operator that cost the host most of the gap, or invalid.
  /// The innermost Python frame of the launching thread that covers at least half of the longest
  /// part with that cause, or invalid.
  SliceId late_frame{};
  Bucket cause = Bucket::host_unknown;  ///< The idle bucket with the largest part of it.
};

/// A part of a gap that has one cause.
struct IdlePiece {
  Interval interval{};
  Bucket cause = Bucket::host_unknown;
  std::uint32_t gap = 0;  ///< Row of DeviceAccounting::gaps.
};

struct DeviceAccounting {
  std::int32_t device = 0;
  Column<Gap> gaps;          ///< By time, disjoint: all idle time of the trace's span.
  Column<IdlePiece> pieces;  ///< By time, disjoint: the gaps cut by cause.
  /// Gaps whose cause was not looked for, as those before them had so many: host_unknown.
  std::uint64_t unasked_gaps = 0;
};

/// The main host thread's time, for traces without device activity.
enum class HostBucket : std::uint8_t {
  input,
  forward,
  backward,
  optimizer,
  communication,
  waiting,  ///< Blocked: joins, queue waits, synchronisation.
  other_operators,
  python,   ///< In no operator.
  warm_up,  ///< In what is done only once, whatever else it is.
};
inline constexpr std::size_t kHostBuckets = static_cast<std::size_t>(HostBucket::warm_up) + 1;
std::string_view to_string(HostBucket bucket);

struct HostPiece {
  Interval interval{};
  HostBucket bucket = HostBucket::python;
  SliceId op{};  ///< The innermost host work there, or invalid.
};

struct Accounting {
  std::vector<DeviceAccounting> devices;  ///< As Timelines::devices.
  /// The time of each activity that is credited to it: at every busy instant one running activity
  /// of the highest priority, the one that started first, is credited. Sums to the busy time.
  ActivityColumn<Duration> credited;
  /// What is done only once.
  OneOffWork one_off;
  /// Median delay from launch to start of activities that found their stream idle.
  Duration launch_delay{};
  /// Set when the trace has no device activity: the main thread, and its time by time, disjoint,
  /// covering the trace's span.
  TrackId main_thread{};
  std::vector<HostPiece> host;
  [[nodiscard]] const DeviceAccounting* find(std::int32_t device) const;
};

/// O(n log n), whatever is selected.
Accounting compute_accounting(const Context& context);

/// The buckets of one device over `window`; sums to its length. O(log n + pieces inside).
Account account(const Context& context, const Accounting& accounting, std::int32_t device,
                Interval window);

}  // namespace fathom
