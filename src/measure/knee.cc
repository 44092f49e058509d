// Holds each value's cost against that of the best.
#include "measure/knee.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "stats/false_discovery.h"
#include "stats/paired_ratio.h"
#include "stats/paired_signs.h"
#include "stats/sample.h"

namespace fathom::measure {
namespace {

constexpr double kFalseDiscovery = 0.05;

std::optional<std::size_t> best_of(std::span<const std::vector<double>> costs) {
  std::optional<std::pair<double, std::size_t>> least;
  for (std::size_t place = 0; place < costs.size(); ++place) {
    if (costs[place].empty()) continue;
    const double median = describe(costs[place]).median;
    if (!least || median < least->first) least.emplace(median, place);
  }
  return least ? std::optional(least->second) : std::nullopt;
}

/// Of each value, whether it differs from the best, judged together with all other pairs.
std::vector<bool> differ_from(std::size_t best, std::span<const std::vector<double>> costs) {
  std::vector<double> p;
  std::vector<std::pair<std::size_t, std::size_t>> with_best;  // of a value, its place in p
  for (std::size_t one = 0; one < costs.size(); ++one) {
    if (costs[one].empty()) continue;
    for (std::size_t other = one + 1; other < costs.size(); ++other) {
      if (costs[other].empty()) continue;
      if (one == best || other == best) with_best.emplace_back(one == best ? other : one, p.size());
      p.push_back(sign_test_p(costs[one], costs[other]).value_or(1));
    }
  }
  const std::vector<bool> rejected = reject_with_false_discovery_rate(p, kFalseDiscovery);
  std::vector<bool> differ(costs.size());
  for (const auto& [value, pair] : with_best) differ[value] = rejected[pair];
  return differ;
}

}  // namespace

Standing standing_of(const Bounds& cost, double resolution) {
  if (cost.high <= 1 + resolution) return Standing::within;
  return cost.low > 1 + resolution ? Standing::worse : Standing::cannot_tell;
}

std::string_view to_string(Standing standing) {
  static constexpr std::array<std::string_view, 4> kNames = {"best", "within", "worse",
                                                             "cannot_tell"};
  return kNames[static_cast<std::size_t>(standing)];
}

Knee find_knee(std::span<const std::vector<double>> costs, std::span<const std::size_t> ascending,
               double resolution) {
  Knee found;
  found.rows.resize(costs.size());
  found.best = best_of(costs);
  if (!found.best) return found;
  const std::vector<bool> differ = differ_from(*found.best, costs);
  for (std::size_t place = 0; place < costs.size(); ++place) {
    KneeRow& row = found.rows[place];
    if (costs[place].empty()) continue;
    row.cost = paired_ratio(costs[*found.best], costs[place]);
    row.standing = place == *found.best ? Standing::best
                   : row.cost           ? standing_of(row.cost->interval, resolution)
                                        : Standing::cannot_tell;
    if (row.standing == Standing::worse && !differ[place]) row.standing = Standing::cannot_tell;
  }
  settle_knee(found, ascending);
  return found;
}

void settle_knee(Knee& found, std::span<const std::size_t> ascending) {
  found.knee.reset();
  found.perhaps.clear();
  if (!found.best || !found.rows[*found.best].cost) return;  // too few
  for (const std::size_t place : ascending) {
    const std::optional<Standing>& standing = found.rows[place].standing;
    if (standing == Standing::cannot_tell) found.perhaps.push_back(place);
    if (standing != Standing::best && standing != Standing::within) continue;
    found.knee = place;
    break;
  }
}

std::vector<std::size_t> ascending_places(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t place) { return numbers[place]; });
  return order;
}

}  // namespace fathom::measure
