// Doubles, then halves.
#include "measure/size_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/false_discovery.h"
#include "stats/log_ratio.h"
#include "stats/paired_ratio.h"
#include "stats/paired_signs.h"
#include "stats/summary.h"

namespace fathom::measure {
namespace {

constexpr double kFalseDiscovery = 0.05;

}  // namespace

SizeSearch::SizeSearch(std::int64_t first, std::int64_t last, double resolution)
    : last_(std::max(first, last)), resolution_(resolution), next_(first) {}

bool SizeSearch::add(std::span<const double> base, std::span<const double> now, bool certain) {
  if (!next_) return false;
  const std::int64_t size = *next_;
  next_.reset();
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(base.size(), now.size()); ++i) {
    const std::optional<double> each = log_ratio(base[i], now[i]);
    if (!each) return false;
    if (!std::isnan(*each)) logs.push_back(*each);
  }
  if (logs.empty()) return false;
  std::ranges::sort(logs);
  const double middle = quantile(logs, 0.5);
  if (!std::isfinite(middle)) return false;
  (middle > 0 ? slower_ : faster_) = size;
  Judged judged{.size = size, .p = sign_test_p(base, now).value_or(1)};
  if (const std::optional<PairedRatio> ratio = paired_ratio(base, now); ratio && certain) {
    judged.slower = ratio->interval.low > 1;
    judged.faster = ratio->interval.high < 1;
  }
  judged_.push_back(judged);
  next_ = after(size);
  return true;
}

std::vector<std::int64_t> SizeSearch::certain(bool Judged::*which) const {
  std::vector<double> p;
  for (const Judged& each : judged_) p.push_back(each.p);
  const std::vector<bool> believed = reject_with_false_discovery_rate(p, kFalseDiscovery);
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < judged_.size(); ++i)
    if (believed[i] && judged_[i].*which) sizes.push_back(judged_[i].size);
  return sizes;
}

std::optional<std::int64_t> SizeSearch::surely_slower() const {
  const std::vector<std::int64_t> sizes = certain(&Judged::slower);
  return sizes.empty() ? std::nullopt : std::optional(std::ranges::max(sizes));
}

std::optional<std::int64_t> SizeSearch::surely_faster() const {
  const std::vector<std::int64_t> sizes = certain(&Judged::faster);
  return sizes.empty() ? std::nullopt : std::optional(std::ranges::min(sizes));
}

std::optional<std::int64_t> SizeSearch::after(std::int64_t size) const {
  if (!faster_) {
    if (size >= last_) return std::nullopt;
    return size > last_ / 2 ? last_ : 2 * size;
  }
  if (!slower_) return std::nullopt;
  const double apart = std::max(1.0, static_cast<double>(*slower_) * resolution_);
  if (static_cast<double>(*faster_ - *slower_) <= apart) return std::nullopt;
  return *slower_ + (*faster_ - *slower_) / 2;
}

std::optional<std::size_t> SizeSearch::left() const {
  if (!next_) return 0;
  if (!slower_ || !faster_) return std::nullopt;
  const double apart = std::max(1.0, static_cast<double>(*slower_) * resolution_);
  std::size_t count = 0;
  for (std::int64_t gap = *faster_ - *slower_; static_cast<double>(gap) > apart; ++count)
    gap -= gap / 2;  // the larger half
  return count;
}

}  // namespace fathom::measure
