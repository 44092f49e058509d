// Collects the runs by thread, and looks them up.
#include "analysis/lines/line_runs.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace fathom {
namespace {

constexpr std::string_view kCategory = "line";

bool is_line(const Trace& trace, const Category& category) {
  return category.kind == SliceKind::other && trace.text(category.name) == kCategory;
}

}  // namespace

StatementName statement_name(std::string_view name) {
  StatementName parts;
  const std::size_t space = name.rfind(' ');
  if (space != name.npos) parts.function = name.substr(space + 1);
  const std::string_view place = name.substr(0, space);
  const std::size_t colon = place.rfind(':');
  parts.file = place.substr(0, colon);
  if (colon != place.npos)
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), parts.first);
  return parts;
}

bool LineRuns::recorded(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [&trace](const Category& category) {
    return category.slices > 0 && is_line(trace, category);
  });
}

LineRuns::LineRuns(const Trace& trace)
    : of_track_(trace.tracks.size(), kNone), leaders_(trace.tracks.size(), kNone) {
  if (!recorded(trace)) return;
  std::vector<bool> lines(256);
  for (std::size_t row = 0; row < trace.categories.size(); ++row)
    lines[row] = is_line(trace, trace.categories[row]);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> numbers;
  std::vector<std::uint32_t> by_track(trace.tracks.size(), kNone);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (!lines[trace.slices.category[row]]) continue;
    const std::size_t place = trace.slices.track[row].row();
    const Track& track = trace.tracks[place];
    if (track.kind != TrackKind::async || track.tid == kAbsent) continue;
    std::uint32_t& number = by_track[place];
    if (number == kNone) {
      const auto next = static_cast<std::uint32_t>(threads_.size());
      const auto [at, added] = numbers.try_emplace({track.pid, track.tid}, next);
      if (added) threads_.push_back({.pid = track.pid, .tid = track.tid});
      number = at->second;
    }
    threads_[number].runs.push_back(
        {{trace.slices.start[row], trace.slices.end(SliceId(row))}, trace.slices.name[row]});
  }
  for (Thread& thread : threads_) {
    std::ranges::stable_sort(thread.runs, {}, [](const Run& run) { return run.interval.begin; });
    // A damaged recording may say anything: of two runs at one moment the earlier holds.
    Time until = Time::min();
    for (Run& run : thread.runs) {
      run.interval.begin = std::max(run.interval.begin, until);
      run.interval.end = std::max(run.interval.end, run.interval.begin);
      until = run.interval.end;
      thread.covered += run.interval.length();
    }
  }
  place(trace);
}

/// Host threads are the same by process and number.
void LineRuns::place(const Trace& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> numbers;
  std::map<std::int64_t, std::uint32_t> leaders;
  for (std::uint32_t number = 0; number < threads_.size(); ++number) {
    const Thread& thread = threads_[number];
    numbers[{thread.pid, thread.tid}] = number;
    const auto [at, added] = leaders.try_emplace(thread.pid, number);
    if (!added && thread.covered > threads_[at->second].covered) at->second = number;
  }
  for (std::size_t row = 0; row < trace.tracks.size(); ++row) {
    const Track& track = trace.tracks[row];
    if (track.kind != TrackKind::host_thread) continue;
    const auto own = numbers.find({track.pid, track.tid});
    if (own != numbers.end()) of_track_[row] = own->second;
    const auto leader = leaders.find(track.pid);
    if (leader != leaders.end()) leaders_[row] = leader->second;
  }
}

std::size_t LineRuns::Thread::first_after(Time time) const {
  const auto at = std::ranges::partition_point(
      runs, [time](const Run& run) { return run.interval.end <= time; });
  return static_cast<std::size_t>(at - runs.begin());
}

StringId LineRuns::Thread::at(Time time) const {
  const std::size_t next = first_after(time);
  return next < runs.size() && runs[next].interval.begin <= time ? runs[next].statement
                                                                 : StringId();
}

}  // namespace fathom
