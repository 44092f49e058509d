// Finds the slice that each end of an arrow lies in, by a sweep over each track.
#include "export/bound_flows.h"

#include <algorithm>

#include "export/launch_flows.h"

namespace fathom {
namespace {

class Binder {
 public:
  Binder(const Trace& trace, const Chosen& chosen, const TrackOrder& order)
      : trace_(trace), chosen_(chosen), order_(order) {}

  BoundFlows run() {
    recorded();
    for (const LaunchFlow& arrow : launch_flows(trace_)) {
      if (!chosen_.slice(arrow.launch.row()) || !chosen_.slice(arrow.activity.row())) continue;
      const std::uint64_t number = Chosen::arrow(arrow.activity.value, StringId());
      bound_.flows.push_back({arrow.launch.value, number, false});
      bound_.flows.push_back({arrow.activity.value, number, true});
    }
    std::ranges::stable_sort(bound_.flows, {}, &BoundFlow::slice);
    return std::move(bound_);
  }

 private:
  void recorded() {
    const FlowPoints& points = trace_.flows;
    std::vector<std::uint32_t> rows;
    for (std::size_t row = 0; row < points.size(); ++row) {
      if (chosen_.flow(row)) rows.push_back(static_cast<std::uint32_t>(row));
    }
    std::ranges::sort(rows, [&points](std::uint32_t a, std::uint32_t b) {
      if (points.track[a] != points.track[b]) return points.track[a] < points.track[b];
      return points.time[a] != points.time[b] ? points.time[a] < points.time[b] : a < b;
    });
    for (auto at = rows.begin(); at != rows.end();) {
      const TrackId track = points.track[*at];
      const auto end = std::find_if(at, rows.end(),
                                    [&](std::uint32_t row) { return points.track[row] != track; });
      bind_track(order_.of(track.row()), {at, end});
      at = end;
    }
  }

  void bind_track(std::span<const std::uint32_t> slices, std::span<const std::uint32_t> points) {
    std::vector<std::uint32_t> open;
    const auto end = [this](std::uint32_t row) { return trace_.slices.end(SliceId(row)); };
    auto next = slices.begin();
    for (const std::uint32_t point : points) {
      const Time time = trace_.flows.time[point];
      for (; next != slices.end() && trace_.slices.start[*next] <= time; ++next) {
        while (!open.empty() && end(open.back()) <= trace_.slices.start[*next]) open.pop_back();
        open.push_back(*next);
      }
      while (!open.empty() && end(open.back()) < time) open.pop_back();
      if (open.empty()) {
        ++bound_.unbound;
        continue;
      }
      bound_.flows.push_back({open.back(),
                              Chosen::arrow(trace_.flows.id[point], trace_.flows.category[point]),
                              trace_.flows.phase[point] == FlowPhase::finish});
    }
  }

  const Trace& trace_;
  const Chosen& chosen_;
  const TrackOrder& order_;
  BoundFlows bound_;
};

}  // namespace

std::span<const BoundFlow> BoundFlows::of(std::uint32_t slice) const {
  const auto begin = std::ranges::lower_bound(flows, slice, {}, &BoundFlow::slice);
  const auto end = std::ranges::upper_bound(flows, slice, {}, &BoundFlow::slice);
  return {begin, end};
}

BoundFlows bind_flows(const Trace& trace, const Chosen& chosen, const TrackOrder& order) {
  return Binder(trace, chosen, order).run();
}

}  // namespace fathom
