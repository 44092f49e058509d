// Finds the moments of host threads that the graph needs.
#include "replay/host_points.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/structure/answering.h"
#include "analysis/util/row_order.h"
#include "replay/step_choice.h"

namespace fathom {
namespace {

enum class Role : std::uint8_t { unknown, none, waits, event_record, event_wait };

// What the walk must know of a slice at once, as bits.
constexpr std::uint8_t kLaunches = 1;
constexpr std::uint8_t kPageable = 2;

class PointCollector {
 public:
  PointCollector(const Context& context, std::span<const Step> steps, HostPoints& out)
      : context_(context),
        steps_(steps),
        trace_(context.trace),
        out_(out),
        roles_(trace_.strings.size()),
        marks_(trace_.slices.size()) {
    for (std::size_t i = 0; i < trace_.categories.size(); ++i) {
      const SliceKind kind = trace_.categories[i].kind;
      calls_[i] = is_runtime_call(kind);
    }
    mark_launches();
  }

  void add_thread(std::uint32_t row) {
    const Nesting::Thread& thread = context_.nesting().work[row];
    if (thread.slices.empty()) return;
    Time last = Time::min();
    add(row, trace_.slices.start[thread.slices.front().row()], {}, PointOrder::arrival);
    for (const SliceId slice : thread.slices) {
      last = std::max(last, trace_.slices.end(slice));
      if (calls_[trace_.slices.category[slice.row()]]) add_call(row, slice);
    }
    add(row, last, {}, PointOrder::departure);
    // The thread's part in the end of a step that is the whole trace, which leaves annotations out.
    if (is_whole_trace(steps_)) {
      const Time end = std::min(last, steps_.front().window.end);
      add(row, end, {}, PointOrder::departure, NodeKind::point, 0);
    }
  }

  void add(std::uint32_t thread, Time at, SliceId slice, PointOrder order,
           NodeKind kind = NodeKind::point, std::uint32_t step = kNoRow) {
    out_.points.push_back(
        {.at = at, .slice = slice, .thread = thread, .kind = kind, .order = order, .step = step});
  }

 private:
  void mark_launches() {
    const Links& links = context_.links();
    for (const SliceId activity : links.activities) {
      const SliceId launch = links.launch[activity.row()];
      if (!launch.valid()) continue;
      marks_[launch.row()] |= kLaunches;
      const std::uint32_t copy = trace_.slices.detail[activity.row()];
      if (trace_.kind(activity) != SliceKind::memcpy || copy == SliceId::kNone) continue;
      if (trace_.copies.source[copy] == MemoryKind::pageable ||
          trace_.copies.destination[copy] == MemoryKind::pageable) {
        marks_[launch.row()] |= kPageable;
      }
    }
  }

  Role role_of(SliceId call) {
    Role& role = roles_[trace_.slices.name[call.row()].row()];
    if (role != Role::unknown) return role;
    const std::string_view name = trace_.name(call);
    role = may_wait(trace_, context_.links(), call, false)          ? Role::waits
           : name.find("StreamWaitEvent") != std::string_view::npos ? Role::event_wait
           : name.find("EventRecord") != std::string_view::npos     ? Role::event_record
                                                                    : Role::none;
    return role;
  }

  void add_call(std::uint32_t thread, SliceId call) {
    const std::uint8_t marks = marks_[call.row()];
    const Role role = role_of(call);
    const Time start = trace_.slices.start[call.row()];
    const bool waits = role == Role::waits || (marks & kPageable) != 0;
    if ((marks & kLaunches) != 0) {
      add(thread, start, call, PointOrder::usual, NodeKind::launch);
    } else if (waits) {
      add(thread, start, call, PointOrder::usual);
    }
    if (waits) add(thread, trace_.slices.end(call), call, PointOrder::usual, NodeKind::sync_end);
    if (role == Role::event_record) out_.records.push_back({call, start, thread});
    if (role == Role::event_wait) out_.waits.push_back({call, start, thread});
  }

  const Context& context_;
  std::span<const Step> steps_;
  const Trace& trace_;
  HostPoints& out_;
  std::vector<Role> roles_;          // by name
  std::vector<std::uint8_t> marks_;  // by slice
  std::array<bool, 256> calls_{};
};

std::vector<std::uint32_t> threads_by_track(const Context& context) {
  std::vector<std::uint32_t> rows(context.trace.tracks.size(), kNoRow);
  const std::vector<Nesting::Thread>& work = context.nesting().work;
  for (std::uint32_t row = 0; row < work.size(); ++row) rows[work[row].track.row()] = row;
  return rows;
}

void add_steps(const Context& context, std::span<const Step> steps, PointCollector& collector) {
  const std::vector<std::uint32_t> threads = threads_by_track(context);
  const std::vector<TrackId> answering = answering_threads(context.trace, context.steps());
  for (std::uint32_t row = 0; row < steps.size(); ++row) {
    if (!steps[row].slice.valid()) continue;
    const TrackId track = context.trace.slices.track[steps[row].slice.row()];
    const std::uint32_t thread = threads[answering[track.row()].row()];
    if (thread == kNoRow) continue;
    // The begin carries its step until it is known where it stands among the points.
    collector.add(thread, steps[row].host.begin, steps[row].slice, PointOrder::step_begin,
                  NodeKind::point, row);
    collector.add(thread, steps[row].host.end, {}, PointOrder::step_end, NodeKind::point, row);
  }
}

void sort_points(std::size_t steps, HostPoints& out) {
  sort_rows(out.points.mutable_span(), [](const HostPoint& a, const HostPoint& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  });
  out.step_begin.assign(steps, kNoRow);
  for (std::uint32_t row = 0; row < out.points.size(); ++row) {
    HostPoint& point = out.points[row];
    if (point.step == kNoRow || !point.slice.valid()) continue;
    out.step_begin[point.step] = row;
    point.step = kNoRow;
    point.slice = {};
  }
}

}  // namespace

bool may_wait(const Trace& trace, const Links& links, SliceId call, bool pageable) {
  switch (links.call_kind(trace, call)) {
    case CallKind::synchronize:
    case CallKind::copy_blocking:
    case CallKind::fill_blocking:
      return true;
    case CallKind::allocate:
      return trace.name(call).find("Free") != std::string_view::npos;
    default:
      return pageable;
  }
}

HostPoints compute_host_points(const Context& context, std::span<const Step> steps,
                               const std::vector<ThreadRun>& runs) {
  HostPoints out;
  PointCollector collector(context, steps, out);
  const std::size_t threads = context.nesting().work.size();
  for (std::uint32_t thread = 0; thread < threads; ++thread) collector.add_thread(thread);
  add_steps(context, steps, collector);
  const auto add = [&collector](std::uint32_t thread, Time at, NodeKind kind) {
    const bool arrives = kind == NodeKind::arrival;
    collector.add(thread, at, {}, arrives ? PointOrder::arrival : PointOrder::departure, kind);
  };
  for (const ThreadRun& run : runs) {
    if (run.fed) add(run.feeder, *run.fed, NodeKind::departure);
    add(run.thread, run.interval.begin, NodeKind::arrival);
    add(run.thread, run.interval.end, NodeKind::departure);
    if (run.resumed) add(run.feeder, *run.resumed, NodeKind::arrival);
  }
  sort_points(steps.size(), out);
  return out;
}

}  // namespace fathom
