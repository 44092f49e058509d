// Puts busy segments and idle pieces of a device into one sequence.
#include "analysis/timeline/account_segments.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

Interval cut(Interval a, Interval b) {
  const Time begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Takes pieces in order and merges what is short.
class LaneMaker {
 public:
  LaneMaker(AccountLane& lane, Duration least) : lane_(lane), least_(least) {}

  void add(Interval interval, std::string_view bucket, SliceId cause) {
    if (interval.length() <= Duration{}) return;
    if (interval.length() >= least_) {
      flush();
      lane_.segments.push_back(
          {.interval = interval, .bucket = bucket, .cause = cause, .parts = {}});
      return;
    }
    if (parts_.empty()) short_.begin = interval.begin;
    short_.end = interval.end;
    last_cause_ = cause;
    ++pieces_;
    const auto at = std::ranges::find(parts_, bucket, &Part::first);
    if (at == parts_.end()) {
      parts_.emplace_back(bucket, interval.length());
    } else {
      at->second += interval.length();
    }
    if (short_.length() >= least_) flush();
  }

  void flush() {
    if (parts_.empty()) return;
    std::ranges::stable_sort(parts_, std::ranges::greater(), &Part::second);
    AccountSegment segment{
        .interval = short_, .bucket = parts_.front().first, .cause = {}, .parts = {}};
    if (pieces_ == 1) {
      segment.cause = last_cause_;
    } else {
      segment.parts = parts_;
      lane_.merged = true;
    }
    lane_.segments.push_back(std::move(segment));
    parts_.clear();
    pieces_ = 0;
  }

 private:
  using Part = std::pair<std::string_view, Duration>;

  AccountLane& lane_;
  Duration least_;
  Interval short_{};
  std::vector<Part> parts_;
  std::size_t pieces_ = 0;
  SliceId last_cause_;
};

SliceId cause_of(const Gap& gap) {
  for (const SliceId slice : {gap.late_op, gap.opener_call, gap.launch})
    if (slice.valid()) return slice;
  return gap.next;
}

void add_device(const Context& context, std::int32_t device, Interval stretch, LaneMaker& maker) {
  const DeviceTimeline* const timeline = context.timelines().find(device);
  const DeviceAccounting* const idle = context.accounting().find(device);
  if (timeline == nullptr || idle == nullptr) {
    maker.add(stretch, to_string(Bucket::host_unknown), {});
    return;
  }
  const auto ended = [stretch](const auto& piece) { return piece.interval.end <= stretch.begin; };
  auto busy = std::ranges::partition_point(timeline->segments, ended);
  auto piece = std::ranges::partition_point(idle->pieces, ended);
  Time at = stretch.begin;
  // What neither covers lies outside of the trace's span.
  const auto add = [&](Interval interval, Bucket bucket, SliceId cause) {
    const Interval inside = cut(interval, stretch);
    maker.add({at, inside.begin}, to_string(Bucket::host_unknown), {});
    maker.add(inside, to_string(bucket), cause);
    at = std::max(at, inside.end);
  };
  while (true) {
    const bool more_busy = busy != timeline->segments.end() && busy->interval.begin < stretch.end;
    const bool more_idle = piece != idle->pieces.end() && piece->interval.begin < stretch.end;
    if (!more_busy && !more_idle) break;
    if (more_busy && (!more_idle || busy->interval.begin < piece->interval.begin)) {
      add(busy->interval, static_cast<Bucket>(busy->busy), {});
      ++busy;
    } else {
      add(piece->interval, piece->cause, cause_of(idle->gaps[piece->gap]));
      ++piece;
    }
  }
  maker.add({at, stretch.end}, to_string(Bucket::host_unknown), {});
}

void add_main_thread(const Accounting& accounting, Interval stretch, LaneMaker& maker) {
  const auto ended = [stretch](const HostPiece& piece) {
    return piece.interval.end <= stretch.begin;
  };
  auto piece = std::ranges::partition_point(accounting.host, ended);
  for (; piece != accounting.host.end() && piece->interval.begin < stretch.end; ++piece)
    maker.add(cut(piece->interval, stretch), to_string(piece->bucket), piece->op);
}

}  // namespace

AccountLane account_lane(const Context& context, std::optional<std::int32_t> device,
                         Interval stretch, Duration least) {
  AccountLane lane;
  stretch = cut(stretch, context.trace.span);
  LaneMaker maker(lane, least);
  if (device) {
    add_device(context, *device, stretch, maker);
  } else {
    add_main_thread(context.accounting(), stretch, maker);
  }
  maker.flush();
  if (device) {
    const Account sums = account(context, context.accounting(), *device, stretch);
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (sums.time[i] > Duration{})
        lane.buckets.emplace_back(to_string(static_cast<Bucket>(i)), sums.time[i]);
    }
    return lane;
  }
  std::array<Duration, kHostBuckets> sums{};
  for (const HostPiece& piece : context.accounting().host)
    sums[static_cast<std::size_t>(piece.bucket)] += cut(piece.interval, stretch).length();
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    if (sums[i] > Duration{})
      lane.buckets.emplace_back(to_string(static_cast<HostBucket>(i)), sums[i]);
  }
  return lane;
}

}  // namespace fathom
