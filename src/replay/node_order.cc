// Orders the moments of a recording so that causes come before effects.
#include "replay/node_order.h"

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

/// Moments before they are sorted: the origin, then host points, starts, ends.
struct Moment {
  std::uint32_t row;
  NodeKind kind;
  /// At one time: ends of activities that began earlier, host points in the order in which things
  /// come and go, starts, ends of activities without a duration.
  std::uint8_t rank;
};

constexpr std::uint8_t kStarts = 2 + static_cast<std::uint8_t>(PointOrder::departure);
constexpr std::uint8_t kInstantEnds = kStarts + 1;

/// Puts the moments in order. They are looked up, for with their times they would take twice the
/// room.
class MomentOrder {
 public:
  MomentOrder(const Context& context, const HostPoints& points)
      : activities_(context.links().activities), slices_(context.trace.slices), points_(points) {}

  [[nodiscard]] std::vector<Moment> sorted() const {
    std::vector<Moment> moments = all();
    sort_rows(std::span(moments).subspan(1), [this](const Moment& a, const Moment& b) {
      const Time at_a = time_of(a);
      const Time at_b = time_of(b);
      return at_a != at_b ? at_a < at_b : a.rank < b.rank;
    });
    return moments;
  }

 private:
  [[nodiscard]] std::vector<Moment> all() const {
    std::vector<Moment> moments;
    moments.reserve(1 + points_.points.size() + 2 * activities_.size());
    moments.push_back({0, NodeKind::origin, 0});
    for (std::uint32_t row = 0; row < points_.points.size(); ++row) {
      const HostPoint& point = points_.points[row];
      const auto rank = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(point.order));
      moments.push_back({row, point.kind, rank});
    }
    for (std::uint32_t row = 0; row < activities_.size(); ++row)
      moments.push_back({row, NodeKind::start, kStarts});
    for (std::uint32_t row = 0; row < activities_.size(); ++row) {
      const bool instant = slices_.duration[activities_[row].row()] == Duration{};
      moments.push_back({row, NodeKind::end, instant ? kInstantEnds : std::uint8_t{0}});
    }
    return moments;
  }

  [[nodiscard]] Time time_of(const Moment& moment) const {
    if (moment.kind == NodeKind::start) return slices_.start[activities_[moment.row].row()];
    if (moment.kind == NodeKind::end) return slices_.end(activities_[moment.row]);
    return points_.points[moment.row].at;
  }

  const std::vector<SliceId>& activities_;
  const Slices& slices_;
  const HostPoints& points_;
};

NodeOrder number_nodes(const Context& context, const HostPoints& points) {
  const std::vector<Moment> moments = MomentOrder(context, points).sorted();
  NodeOrder order;
  order.point.resize(points.points.size());
  order.start.resize(context.links().activities.size());
  order.end.resize(order.start.size());
  for (std::uint32_t node = 1; node < moments.size(); ++node) {
    const Moment& moment = moments[node];
    std::vector<std::uint32_t>& numbers = moment.kind == NodeKind::start ? order.start
                                          : moment.kind == NodeKind::end ? order.end
                                                                         : order.point;
    numbers[moment.row] = node;
  }
  return order;
}

}  // namespace

NodeOrder order_nodes(const Context& context, const HostPoints& points, ReplayGraph& graph) {
  NodeOrder order = number_nodes(context, points);
  const std::vector<SliceId>& activities = context.links().activities;
  const std::size_t nodes = 1 + points.points.size() + 2 * activities.size();
  graph.at.resize(nodes);
  graph.kind.resize(nodes);
  graph.slice.resize(nodes);
  graph.at[0] = context.trace.span.begin;
  const auto describe = [&graph](std::uint32_t node, Time at, NodeKind kind, SliceId slice) {
    graph.at[node] = at;
    graph.kind[node] = kind;
    graph.slice[node] = slice;
  };
  for (std::uint32_t row = 0; row < points.points.size(); ++row) {
    const HostPoint& point = points.points[row];
    describe(order.point[row], point.at, point.kind, point.slice);
  }
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    const SliceId activity = activities[row];
    const Time start = context.trace.slices.start[activity.row()];
    describe(order.start[row], start, NodeKind::start, activity);
    describe(order.end[row], context.trace.slices.end(activity), NodeKind::end, activity);
  }
  return order;
}

}  // namespace fathom
