// Decides of each activity whether it is recorded: it must lie within all limits that were given.
#include "capture/cuda/activity_limits.h"

#include <algorithm>

namespace fathom::cuda {
namespace {

/// CUPTI needs a moment to begin, and it is asked four times a second.
constexpr std::int64_t kAhead = 500'000'000;
/// After so many looks there is mostly nobody: ten seconds.
constexpr std::uint64_t kManyLooks = 40;

}  // namespace

Limits::Limits(const inside::Settings& settings, std::int64_t start,
               const inside::SharedPage* arrivals)
    : arrivals_(arrivals),
      elsewhere_((settings.steps.has_value() && settings.from_start) ||
                 (!settings.range.empty() && settings.range != "cuda-profiler")) {
  if (settings.delay_ns > 0) from_ = start + settings.delay_ns;
  if (settings.duration_ns) to_ = start + settings.delay_ns + *settings.duration_ns;
}

bool Limits::keeps(std::int64_t time) const {
  if (time < from_ || time >= to_) return false;
  if (arrivals_ != nullptr && !arrivals_->open_at(time)) return false;
  return pages_.empty() ||
         std::ranges::any_of(pages_, [&](const auto* page) { return page->open_at(time); });
}

bool Limits::wants(std::int64_t now) const {
  const bool in_time = (from_ <= now || from_ - now <= kAhead) && now < to_;
  return in_time && (arrivals_ == nullptr || arrivals_->open_at(now));
}

void Limits::look() {
  if (!elsewhere_) return;
  const bool many = ++looks_ > kManyLooks || !pages_.empty();
  if (!many || looks_ % kManyLooks == 0) pages_ = inside::shared_pages();
}

}  // namespace fathom::cuda
