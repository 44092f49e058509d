// Finds the knee of a sweep.
#include "measure/knee.h"

namespace fathom::measure {

std::optional<std::size_t> knee_of(std::span<const KneePoint> points, double resolution) {
  std::optional<double> least;
  for (const KneePoint& point : points) {
    if (point.cost && (!least || *point.cost < *least)) least = point.cost;
  }
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].cost || *points[i].cost > *least * (1 + resolution)) continue;
    if (!found || points[i].value < points[*found].value) found = i;
  }
  return found;
}

}  // namespace fathom::measure
