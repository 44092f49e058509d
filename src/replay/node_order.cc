// Sorts all moments by time, and ties so that causes stand before effects.
#include "replay/node_order.h"

#include "analysis/row_order.h"

namespace fathom {
namespace {

/// Moments before they are sorted: the origin, then host points, starts, ends.
struct Moment {
  Time at;
  std::uint32_t row;
  NodeKind kind;
  /// At one time: ends of activities that began earlier, host points in the order in which things
  /// come and go, starts, ends of activities without a duration.
  std::uint8_t rank;
};

constexpr std::uint8_t kStarts = 2 + static_cast<std::uint8_t>(PointOrder::departure);
constexpr std::uint8_t kInstantEnds = kStarts + 1;

std::vector<Moment> all_moments(const Context& context, const HostPoints& points) {
  const std::vector<SliceId>& activities = context.links().activities;
  const Slices& slices = context.trace.slices;
  std::vector<Moment> moments;
  moments.reserve(1 + points.points.size() + 2 * activities.size());
  moments.push_back({Time::min(), 0, NodeKind::origin, 0});
  for (std::uint32_t row = 0; row < points.points.size(); ++row) {
    const HostPoint& point = points.points[row];
    const auto rank = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(point.order));
    moments.push_back({point.at, row, point.kind, rank});
  }
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    moments.push_back({slices.start[activities[row].row()], row, NodeKind::start, kStarts});
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    const bool instant = slices.duration[activities[row].row()] == Duration{};
    moments.push_back({slices.end(activities[row]), row, NodeKind::end,
                       instant ? kInstantEnds : std::uint8_t{0}});
  }
  return moments;
}

}  // namespace

NodeOrder order_nodes(const Context& context, const HostPoints& points, ReplayGraph& graph) {
  std::vector<Moment> moments = all_moments(context, points);
  sort_rows(std::span(moments), [](const Moment& a, const Moment& b) {
    return a.at != b.at ? a.at < b.at : a.rank < b.rank;
  });
  const std::vector<SliceId>& activities = context.links().activities;
  NodeOrder order;
  order.point.resize(points.points.size());
  order.start.resize(activities.size());
  order.end.resize(activities.size());
  graph.at.reserve(moments.size());
  graph.kind.reserve(moments.size());
  graph.slice.reserve(moments.size());
  graph.step.assign(moments.size(), kNoRow);
  for (std::uint32_t node = 0; node < moments.size(); ++node) {
    const Moment& moment = moments[node];
    graph.at.push_back(moment.kind == NodeKind::origin ? context.trace.span.begin : moment.at);
    graph.kind.push_back(moment.kind);
    switch (moment.kind) {
      case NodeKind::origin:
        graph.slice.emplace_back();
        break;
      case NodeKind::start:
        order.start[moment.row] = node;
        graph.slice.push_back(activities[moment.row]);
        break;
      case NodeKind::end:
        order.end[moment.row] = node;
        graph.slice.push_back(activities[moment.row]);
        break;
      default:
        order.point[moment.row] = node;
        graph.slice.push_back(points.points[moment.row].slice);
        graph.step[node] = points.points[moment.row].step;
    }
  }
  return order;
}

}  // namespace fathom
