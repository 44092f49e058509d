// Estimates the width of an interval from absolute values.
#include "stats/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "stats/log_ratio.h"
#include "stats/median_interval.h"
#include "stats/summary.h"

namespace fathom {
namespace {

/// Of a normal distribution that is folded at its middle, the median by what lies between median
/// and upper quartile: 0.6745 / (1.1503 - 0.6745).
constexpr double kFolded = 1.418;
/// 1.96 standard errors of a median, by how far the middle half of the values reaches to each side.
constexpr double kErrors = 1.96 * 2;
constexpr double kFewestPairs = 6;
constexpr double kMostPairs = 1e9;

/// Of a normal distribution that is folded at its middle, the median by the upper quartile.
constexpr double kQuartile = 0.6745 / 1.1503;

/// Of the second by the first; not a number where both are 0. Empty where no interval could be
/// given.
std::vector<double> log_ratios(std::span<const double> first, std::span<const double> second) {
  std::vector<double> logs;
  if (first.size() != second.size()) return logs;
  logs.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<double> each = log_ratio(first[i], second[i]);
    if (!each) return {};
    logs.push_back(*each);
  }
  if (!median_ranks(logs.size(), 0.95)) logs.clear();
  return logs;
}

/// Empty where half of them have no end: then no number of pairs has an interval.
std::vector<double> sorted_sizes(const std::vector<double>& logs) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  std::vector<double> sizes;
  sizes.reserve(logs.size());
  for (const double each : logs) sizes.push_back(std::isnan(each) ? kEndless : std::abs(each));
  std::ranges::sort(sizes);
  if (!std::isfinite(quantile(sizes, 0.5))) sizes.clear();
  return sizes;
}

/// Do so few of these differ from the others that the sign test rejects a fair coin?
bool is_no_coin(std::size_t some, std::size_t all) {
  const auto ranks = median_ranks(all, 0.95);
  return ranks && std::min(some, all - some) <= ranks->low;
}

/// Do signs follow the order of time: one direction in the larger half, or each in turns?
bool follow_time(const std::vector<double>& logs, double middle) {
  std::size_t larger = 0;
  std::size_t up = 0;
  std::size_t like_last = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (i > 0 && (logs[i] > 0) == (logs[i - 1] > 0)) ++like_last;
    if (!(std::abs(logs[i]) >= middle)) continue;
    ++larger;
    if (logs[i] > 0) ++up;
  }
  return is_no_coin(up, larger) || is_no_coin(like_last, logs.size() - 1);
}

double half_width(double reach, std::size_t pairs) {
  return kErrors * reach / std::sqrt(static_cast<double>(pairs));
}

double reach_of(const std::vector<double>& sizes, Reach reach) {
  const double middle = quantile(sizes, 0.5);
  // Far from 0 nothing was folded.
  const double folded = quantile(sizes, 0.1) > middle / 2 ? 1 : kFolded;
  const double above = folded * (quantile(sizes, 0.75) - middle);
  return reach == Reach::smaller ? std::min(middle, above) : std::max(middle, above);
}

}  // namespace

std::optional<double> blind_half_width(std::span<const double> base, std::span<const double> now) {
  const std::vector<double> sizes = sorted_sizes(log_ratios(base, now));
  if (sizes.empty()) return std::nullopt;
  return half_width(reach_of(sizes, Reach::smaller), sizes.size());
}

std::optional<double> blind_half_width_in_order(std::span<const double> first,
                                                std::span<const double> second, Reach reach) {
  const std::vector<double> logs = log_ratios(first, second);
  if (logs.empty()) return std::nullopt;
  const std::vector<double> sizes = sorted_sizes(logs);
  if (sizes.empty()) return std::nullopt;
  const double middle = quantile(sizes, 0.5);
  if (!follow_time(logs, middle)) return half_width(reach_of(sizes, reach), sizes.size());
  const double both = std::max(middle, kQuartile * quantile(sizes, 0.75));
  // The interval of these sizes with the signs of fair coins, which may have a gap around 0.
  const auto n = static_cast<double>(sizes.size());
  const auto low = static_cast<double>(median_ranks(sizes.size(), 0.95)->low);
  return std::max(half_width(both, sizes.size()), quantile(sizes, 1 - 2 * (low + 1) / n));
}

double half_width_for(double resolution) { return resolution / 2; }

std::size_t pairs_for(double wanted, double half_width, std::size_t pairs) {
  const double factor = half_width / wanted;
  const double needed = static_cast<double>(pairs) * factor * factor;
  // Not a number where nothing is wanted and nothing is left.
  if (!(needed < kMostPairs)) return static_cast<std::size_t>(kMostPairs);
  return static_cast<std::size_t>(std::max(std::ceil(needed), kFewestPairs));
}

}  // namespace fathom
