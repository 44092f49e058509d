// Resolves what each waiting call waited for.
#include "replay/waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "replay/delays.h"
#include "store/recorded_id.h"

namespace fathom {
namespace {

/// Of so many streams at most it is considered that an unrecorded wait is for them.
constexpr std::size_t kMostStreams = 64;

/// The recorder's records of waits, by the correlation id of the call. Processes may use equal ids.
class SyncRecords {
 private:
  [[nodiscard]] auto id_and_start() const {
    return [this](SliceId row) {
      return std::pair(trace_.slices.correlation[row.row()], trace_.slices.start[row.row()]);
    };
  }

 public:
  explicit SyncRecords(const Trace& trace) : trace_(trace) {
    const auto is_sync = [](const Category& category) {
      return category.kind == SliceKind::sync && category.slices > 0;
    };
    if (std::ranges::none_of(trace.categories, is_sync)) return;
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      if (trace.kind(SliceId(row)) == SliceKind::sync &&
          is_recorded_id(trace.slices.correlation[row]) &&
          trace.slices.detail[row] != SliceId::kNone) {
        records_.push_back(SliceId(row));
      }
    }
    std::ranges::stable_sort(records_, {}, id_and_start());
  }
  /// The record of the call, the nearest in time of several, or invalid.
  [[nodiscard]] SliceId of(SliceId call) const {
    const std::int64_t wanted = trace_.slices.correlation[call.row()];
    if (!is_recorded_id(wanted)) return {};
    const Time called = trace_.slices.start[call.row()];
    const auto next =
        std::ranges::lower_bound(records_, std::pair(wanted, called), {}, id_and_start());
    const auto has_id = [&](auto at) { return trace_.slices.correlation[at->row()] == wanted; };
    const bool after = next != records_.end() && has_id(next);
    const bool before = next != records_.begin() && has_id(std::prev(next));
    if (!before) return after ? *next : SliceId();
    const auto start = [this](auto at) { return trace_.slices.start[at->row()]; };
    if (after && start(next) - called < called - start(std::prev(next))) return *next;
    return *std::prev(next);
  }

 private:
  const Trace& trace_;
  std::vector<SliceId> records_;  // by correlation and start
};

class Resolver {
 public:
  Resolver(const Context& context, const HostPoints& points, const Streams& streams)
      : trace_(context.trace),
        context_(context),
        links_(context.links()),
        points_(points),
        streams_(streams),
        records_(context.trace) {
    for (const EventCall& record : points.records) {
      const std::int64_t id = trace_.slices.correlation[record.call.row()];
      if (is_recorded_id(id)) record_times_.emplace(std::pair(process(record.call), id), record.at);
    }
    for (const StreamWork& stream : streams.streams) {
      const Track& track = trace_.tracks[stream.track.row()];
      by_number_.try_emplace({stream.process, track.device, track.stream}, &stream);
      busiest_[stream.process].push_back(&stream);
    }
    for (auto& [process, streams_of] : busiest_) keep_busiest(streams_of);
    find_next_launches();
  }

  void syncs(Waits& waits) {
    const auto& points = points_.points;
    std::uint32_t thread = kNoRow;
    for (std::uint32_t row = 0; row < points.size(); ++row) {
      if (points[row].thread != thread) last_launch_ = {};
      thread = points[row].thread;
      if (points[row].kind == NodeKind::launch) last_launch_ = points[row].slice;
      if (points[row].kind != NodeKind::sync_end) continue;
      waits.syncs.push_back(wait_of(row));
    }
  }

  void events(Waits& waits) const {
    for (const EventCall& wait : points_.waits) {
      const SliceId record = records_.of(wait.call);
      const std::optional<EventWait> found =
          record.valid() ? recorded_event(wait, record) : likely_event(wait);
      if (found) waits.events.push_back(*found);
    }
  }

 private:
  [[nodiscard]] Time start(std::uint32_t activity) const {
    return trace_.slices.start[links_.activities[activity].row()];
  }
  [[nodiscard]] Time end(std::uint32_t activity) const {
    return trace_.slices.end(links_.activities[activity]);
  }

  /// Of two activities the one that ends later; one that has not ended by `at` does not count.
  [[nodiscard]] std::uint32_t later(std::uint32_t a, std::uint32_t b, Time at) const {
    if (b == kNoRow || end(b) > at) return a;
    return a == kNoRow || end(b) > end(a) ? b : a;
  }

  [[nodiscard]] SyncWait wait_of(std::uint32_t row) const {
    const SliceId call = points_.points[row].slice;
    const CallKind kind = links_.call_kind(trace_, call);
    SyncWait wait{.point = row, .activity = kNoRow, .own = {}, .after = {}};
    if (kind == CallKind::synchronize || kind == CallKind::allocate) {
      wait.activity = waited_for(call, kind);
    } else {
      wait_for_copy(call, wait);
    }
    return wait;
  }

  /// For what the call itself copies or fills. From pageable memory it may return while the copy
  /// goes on; where its stream was still busy when it was called, it has waited for the copy to
  /// start.
  void wait_for_copy(SliceId call, SyncWait& wait) const {
    const Time called = trace_.slices.start[call.row()];
    const Time returned = trace_.slices.end(call);
    std::uint32_t begun = kNoRow;
    for (const std::uint32_t activity : streams_.launched_by(context_, call)) {
      wait.activity = later(wait.activity, activity, returned);
      const std::uint32_t before = streams_.after[activity];
      const bool queued = before != kNoRow && end(before) > called;
      if (!queued || start(activity) >= returned) continue;
      if (begun == kNoRow || start(activity) > start(begun)) begun = activity;
    }
    if (wait.activity != kNoRow || begun == kNoRow) return;
    wait.activity = begun;
    wait.from_start = true;
  }

  [[nodiscard]] std::uint32_t waited_for(SliceId call, CallKind kind) const {
    const SliceId record = records_.of(call);
    if (record.valid()) {
      const std::uint32_t recorded = recorded_wait(call, record);
      if (recorded != kNoRow) return recorded;
    }
    const bool all = trace_.name(call).find("Device") != std::string_view::npos ||
                     trace_.name(call).find("Ctx") != std::string_view::npos ||
                     kind == CallKind::allocate;
    return likely_wait(call, all);
  }

  /// What the record shows: a stream, or an event that was recorded on one.
  [[nodiscard]] std::uint32_t recorded_wait(SliceId call, SliceId record) const {
    const std::uint32_t detail = trace_.slices.detail[record.row()];
    const auto recorded =
        record_times_.find({process(call), trace_.syncs.wait_correlation[detail]});
    const Track& track = trace_.track(record);
    const std::int64_t waited = trace_.syncs.wait_stream[detail];
    const bool event = waited != kAbsent && waited >= 0;
    const Time at = event && recorded != record_times_.end() ? recorded->second
                                                             : trace_.slices.start[call.row()];
    const StreamWork* const stream =
        find_stream(process(call), track.device, event ? waited : track.stream);
    if (stream == nullptr) return kNoRow;
    return later(kNoRow, stream->last_launched(at), trace_.slices.end(call));
  }

  [[nodiscard]] std::uint32_t likely_wait(SliceId call, bool all) const {
    const Time called = trace_.slices.start[call.row()];
    const Time returned = trace_.slices.end(call);
    if (!all && last_launch_.valid()) {
      const auto last = streams_.launched_by(context_, last_launch_);
      if (!last.empty()) {
        const StreamWork& stream = streams_.streams[streams_.stream_of[last.front()]];
        const std::uint32_t own = later(kNoRow, stream.last_launched(called), returned);
        if (own != kNoRow && end(own) > called) return own;
      }
    }
    std::uint32_t found = kNoRow;
    for (const StreamWork* stream : busiest(process(call)))
      found = later(found, stream->last_launched(called), returned);
    return found;
  }

  [[nodiscard]] StringId process(SliceId call) const { return trace_.track(call).process; }

  [[nodiscard]] const StreamWork* find_stream(StringId process, std::int32_t device,
                                              std::int64_t number) const {
    const auto at = by_number_.find({process, device, number});
    return at == by_number_.end() ? nullptr : at->second;
  }

  /// Where waits of the process that were not recorded may be for.
  [[nodiscard]] std::span<const StreamWork* const> busiest(StringId process) const {
    const auto at = busiest_.find(process);
    return at == busiest_.end() ? std::span<const StreamWork* const>() : at->second;
  }
  static void keep_busiest(std::vector<const StreamWork*>& streams) {
    std::ranges::stable_sort(streams, std::ranges::greater(),
                             [](const StreamWork* stream) { return stream->activities.size(); });
    if (streams.size() > kMostStreams) streams.resize(kMostStreams);
  }

  void find_next_launches() {
    const auto& points = points_.points;
    next_launch_.resize(points.size());
    std::uint32_t next = kNoRow;
    for (std::size_t row = points.size(); row-- > 0;) {
      if (row + 1 < points.size() && points[row + 1].thread != points[row].thread) next = kNoRow;
      if (points[row].kind == NodeKind::launch) next = static_cast<std::uint32_t>(row);
      next_launch_[row] = next;
    }
  }

  [[nodiscard]] std::optional<EventWait> recorded_event(const EventCall& wait,
                                                        SliceId record) const {
    const std::uint32_t detail = trace_.slices.detail[record.row()];
    const Track& track = trace_.track(record);
    const auto recorded =
        record_times_.find({process(wait.call), trace_.syncs.wait_correlation[detail]});
    const StreamWork* const source =
        find_stream(process(wait.call), track.device, trace_.syncs.wait_stream[detail]);
    const StreamWork* const waiting = find_stream(process(wait.call), track.device, track.stream);
    if (source == nullptr || waiting == nullptr || source == waiting) return {};
    const Time at = recorded == record_times_.end() ? wait.at : recorded->second;
    return event_wait(waiting->next_launched(wait.at), source->last_launched(at));
  }

  [[nodiscard]] std::optional<EventWait> likely_event(const EventCall& wait) const {
    const SliceId launch = next_launch(wait);
    if (!launch.valid()) return {};
    const auto launched = streams_.launched_by(context_, launch);
    if (launched.empty()) return {};
    const StreamWork& own = streams_.streams[streams_.stream_of[launched.front()]];
    const std::uint32_t activity = own.next_launched(wait.at);
    std::uint32_t source = kNoRow;
    for (const StreamWork* stream : busiest(own.process)) {
      if (stream == &own || stream->device != own.device) continue;
      source = later(source, ended_by(*stream, start(activity), wait.at), start(activity));
    }
    return event_wait(activity, source);
  }

  /// The last activity of the stream that had ended by then and was launched before the wait.
  [[nodiscard]] std::uint32_t ended_by(const StreamWork& stream, Time at, Time waited) const {
    const std::uint32_t last = stream.last_launched(waited);
    if (last == kNoRow || end(last) <= at) return last;
    const auto before = [this](std::uint32_t activity) { return start(activity); };
    auto row = std::ranges::lower_bound(stream.activities, at, {}, before);
    // One may still run; two at a time are rare enough not to look further.
    for (int i = 0; i < 2 && row != stream.activities.begin(); ++i) {
      --row;
      const SliceId launch = links_.launch[links_.activities[*row].row()];
      if (end(*row) <= at && launch.valid() && trace_.slices.start[launch.row()] < waited)
        return *row;
    }
    return kNoRow;
  }

  /// The next launching call of the thread, or invalid.
  [[nodiscard]] SliceId next_launch(const EventCall& wait) const {
    const auto before = [](const HostPoint& point, const EventCall& call) {
      return point.thread != call.thread ? point.thread < call.thread : point.at < call.at;
    };
    const auto at = std::lower_bound(points_.points.begin(), points_.points.end(), wait, before);
    if (at == points_.points.end() || at->thread != wait.thread) return {};
    const std::uint32_t row = next_launch_[static_cast<std::size_t>(at - points_.points.begin())];
    return row == kNoRow ? SliceId() : points_.points[row].slice;
  }

  [[nodiscard]] std::optional<EventWait> event_wait(std::uint32_t activity,
                                                    std::uint32_t source) const {
    if (activity == kNoRow || source == kNoRow || end(source) > start(activity)) return {};
    return EventWait{activity, source};
  }

  const Trace& trace_;
  const Context& context_;
  const Links& links_;
  const HostPoints& points_;
  const Streams& streams_;
  SyncRecords records_;
  std::map<std::pair<StringId, std::int64_t>, Time> record_times_;  // by correlation of the call
  std::map<std::tuple<StringId, std::int32_t, std::int64_t>, const StreamWork*>
      by_number_;                                               // process, device, stream
  std::map<StringId, std::vector<const StreamWork*>> busiest_;  // by process
  std::vector<std::uint32_t> next_launch_;                      // by point
  SliceId last_launch_{};                                       // of the thread that is looked at
};

/// What calls take without waiting and after it, from those of the same name.
class CallTimes {
 public:
  CallTimes(const Context& context, const HostPoints& points)
      : trace_(context.trace), links_(context.links()), points_(points) {}

  void fill(std::vector<SyncWait>& syncs) {
    for (const SyncWait& sync : syncs) look_at(sync);
    for (auto& [name, times] : names_) {
      times.back = median_of(times.after);
      // Where all have waited, what they take after the wait is the best guess of what they need.
      times.own = times.idle.empty() ? std::min(times.least, times.back) : median_of(times.idle);
    }
    for (SyncWait& sync : syncs) {
      const SliceId call = points_.points[sync.point].slice;
      const Times& times = names_.at(trace_.slices.name[call.row()]);
      const Duration duration = trace_.slices.duration[call.row()];
      if (!waited(sync)) {
        sync.own = duration;
        sync.after = times.back;
        continue;
      }
      const Duration after = trace_.slices.end(call) - until(sync);
      if (links_.call_kind(trace_, call) == CallKind::allocate) {
        // To free takes the driver as long as it took once the device was done.
        sync.own = after;
        sync.after = after;
        continue;
      }
      sync.own = std::min(sync.from_start ? std::min(duration, after) : duration, times.own);
      sync.after = sync.from_start ? after : std::min(times.back, after);
    }
  }

 private:
  struct Times {
    std::vector<Duration> idle, after;
    Duration least = Duration::max();
    Duration own{}, back{};
  };

  [[nodiscard]] Time until(const SyncWait& sync) const {
    const SliceId activity = links_.activities[sync.activity];
    return sync.from_start ? trace_.slices.start[activity.row()] : trace_.slices.end(activity);
  }
  [[nodiscard]] bool waited(const SyncWait& sync) const {
    const SliceId call = points_.points[sync.point].slice;
    return sync.activity != kNoRow && until(sync) > trace_.slices.start[call.row()];
  }
  void look_at(const SyncWait& sync) {
    const SliceId call = points_.points[sync.point].slice;
    Times& times = names_[trace_.slices.name[call.row()]];
    const Duration duration = trace_.slices.duration[call.row()];
    times.least = std::min(times.least, duration);
    // What goes on after the call says nothing of how long others take to return.
    if (waited(sync) && sync.from_start) return;
    if (waited(sync)) {
      times.after.push_back(trace_.slices.end(call) - until(sync));
    } else {
      times.idle.push_back(duration);
    }
  }

  const Trace& trace_;
  const Links& links_;
  const HostPoints& points_;
  std::map<StringId, Times> names_;
};

}  // namespace

Waits compute_waits(const Context& context, const HostPoints& points, const Streams& streams) {
  Waits waits;
  Resolver resolver(context, points, streams);
  resolver.syncs(waits);
  resolver.events(waits);
  CallTimes(context, points).fill(waits.syncs);
  return waits;
}

}  // namespace fathom
