// Puts the parts of the accounting together, and sums them over windows.
#include "analysis/accounting/accounting.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "analysis/accounting/credit.h"
#include "analysis/accounting/gaps.h"
#include "analysis/accounting/main.h"
#include "analysis/accounting/threads.h"
#include "analysis/accounting/waits.h"
#include "analysis/context.h"
#include "base/parallel.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kBuckets> kBucketNames = {
    "compute",        "communication", "memcpy",       "memset", "input",
    "allocation",     "sync",          "dispatch",     "python", "dependency",
    "launch latency", "device wait",   "host unknown", "warm-up"};
constexpr std::array<std::string_view, 5> kOpeners = {"start", "sync call", "ran dry", "waiting",
                                                      "unknown"};
constexpr std::array<std::string_view, kHostBuckets> kHostNames = {
    "input",   "forward",         "backward", "optimizer", "communication",
    "waiting", "other operators", "python",   "warm-up"};
static_assert(kOpeners.size() == static_cast<std::size_t>(Opener::unknown) + 1);

// The busy buckets are those of the timeline, in its order.
static_assert(static_cast<int>(Bucket::compute) == static_cast<int>(Busy::compute) &&
              static_cast<int>(Bucket::communication) == static_cast<int>(Busy::communication) &&
              static_cast<int>(Bucket::memcpy) == static_cast<int>(Busy::memcpy) &&
              static_cast<int>(Bucket::memset) == static_cast<int>(Busy::memset));

Duration& of(Account& account, Bucket bucket) {
  return account.time[static_cast<std::size_t>(bucket)];
}

/// At the same time, where the trace is worth it.
void both(const Trace& trace, const auto& first, const auto& second) {
  const unsigned threads = trace.slices.size() > kWorthThreads ? 2 : 1;
  for_each_in_parallel(2, threads, [&](std::size_t part) { part == 0 ? first() : second(); });
}

}  // namespace

std::string_view to_string(Bucket bucket) { return kBucketNames[static_cast<std::size_t>(bucket)]; }
std::string_view to_string(Opener opener) { return kOpeners[static_cast<std::size_t>(opener)]; }
std::string_view to_string(HostBucket bucket) {
  return kHostNames[static_cast<std::size_t>(bucket)];
}

Duration Account::idle() const {
  const auto first = time.begin() + static_cast<std::ptrdiff_t>(Bucket::input);
  return std::accumulate(first, time.end(), Duration{});
}

Duration Account::total() const { return std::accumulate(time.begin(), time.end(), Duration{}); }

Account& Account::operator+=(const Account& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) time[i] += other.time[i];
  return *this;
}

const DeviceAccounting* Accounting::find(std::int32_t device) const {
  const auto at = std::ranges::lower_bound(devices, device, {}, &DeviceAccounting::device);
  return at == devices.end() || at->device != device ? nullptr : &*at;
}

Accounting compute_accounting(const Context& context) {
  const Trace& trace = context.trace;
  Accounting result;
  result.credited = context.links().op.beside<Duration>();
  const bool devices = !context.links().activities.empty();
  std::optional<HostThreads> threads;
  std::optional<EventWaits> waits;
  // One-off work needs the steps; the other side begins with the timelines, which do not.
  both(
      trace, [&] { result.one_off = OneOffWork(context); },
      [&] {
        if (devices) static_cast<void>(context.timelines());
        threads.emplace(context);
        if (!devices) return;
        waits.emplace(context);
        result.launch_delay = median_launch_delay(context);
      });
  if (!devices) {
    result.main_thread = threads->main();
    result.host = account_main_thread(context, *threads, result.one_off);
    return result;
  }
  const std::vector<DeviceTimeline>& timelines = context.timelines().devices;
  both(
      trace,
      [&] {
        GapFinder gaps(context, *threads, *waits, result.one_off, result.launch_delay);
        for (const DeviceTimeline& timeline : timelines)
          result.devices.push_back(gaps.find(timeline));
      },
      [&] {
        for (const DeviceTimeline& timeline : timelines) {
          for_each_credit(trace, context.timelines(), timeline,
                          [&](SliceId activity, Interval interval) {
                            result.credited.at(activity.row()) += interval.length();
                          });
        }
      });
  return result;
}

Account account(const Context& context, const Accounting& accounting, std::int32_t device,
                Interval window) {
  Account result;
  const DeviceTimeline* const timeline = context.timelines().find(device);
  const DeviceAccounting* const idle = accounting.find(device);
  if (timeline == nullptr || idle == nullptr) {
    of(result, Bucket::host_unknown) = window.length();
    return result;
  }
  const BusyTime busy = busy_time(*timeline, window);
  for (std::size_t kind = 0; kind + 1 < kBusyKinds; ++kind)
    result.time[kind] = busy.exclusive[kind];
  const auto ended = [window](const IdlePiece& piece) {
    return piece.interval.end <= window.begin;
  };
  auto piece = std::ranges::partition_point(idle->pieces, ended);
  for (; piece != idle->pieces.end() && piece->interval.begin < window.end; ++piece) {
    of(result, piece->cause) +=
        std::min(piece->interval.end, window.end) - std::max(piece->interval.begin, window.begin);
  }
  // What lies outside of the trace's span is in no gap.
  of(result, Bucket::host_unknown) += window.length() - result.total();
  return result;
}

}  // namespace fathom
