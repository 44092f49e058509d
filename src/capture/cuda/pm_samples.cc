// Turns decoded samples into points of counter tracks, with checked times.
#include "capture/cuda/pm_samples.h"

#include <algorithm>
#include <cmath>

namespace fathom::cuda {
namespace {

/// CUPTI's clock is known that well at worst.
constexpr std::int64_t kTolerance = 200'000;
constexpr double kAll = 100;
/// By so much samples may come later at one look than at another.
constexpr std::int64_t kMostLag = 1'000'000'000;
/// Nobody sets a clock so often within a minute.
constexpr int kMostParted = 3;
constexpr std::int64_t kForgiven = 60'000'000'000;

std::int64_t signed_of(std::uint64_t time) { return static_cast<std::int64_t>(time); }

}  // namespace

void PmClock::move_to(std::int64_t time) {
  const std::int64_t drift =
      std::llround(std::abs(static_cast<double>(time - at_)) * kMostDrift) + 1;
  least_ -= drift;
  most_ += drift;
  at_ = time;
}

void PmClock::fit(std::int64_t begin, std::int64_t end, std::int64_t started,
                  std::int64_t decoded) {
  if (any_) {
    move_to(begin);
    least_ = std::max(least_, started - begin);
  } else {
    at_ = begin;
    least_ = started - begin;
    most_ = decoded - begin;
  }
  move_to(end);
  most_ = std::min(most_, decoded - end);
  // No sample lies after the look at it; where that contradicts what was known, a clock was set.
  error_ = std::max(error_, least_ - most_);
  least_ = std::min(least_, most_);
  if (!std::exchange(any_, true)) behind_ = (most_ - least_) / 2;
  // Over the batch the difference changes too.
  const std::int64_t drift = std::llround(static_cast<double>(end - begin) * kMostDrift) + 1;
  const bool fits = least_ <= kTolerance && most_ >= -kTolerance;
  if (own_ && fits) {
    doubt_ = std::max({doubt_, drift + std::abs(least_), drift + std::abs(most_)});
    return;
  }
  if (std::exchange(own_, false)) error_ = std::max(error_, doubt_);
  shift_ = std::clamp(most_ - behind_, least_, most_);
  error_ = std::max(error_, drift + std::max(shift_ - least_, most_ - shift_));
}

/// Where the clock is another one from now on, it begins anew.
bool PmSeries::sound(const PmBatch& batch, const PmTime& time) const {
  if (time.begin == 0 || time.end <= time.begin) return false;
  return time.begin >= last_.end ||
         (is_by_cpu(batch, time, time) && last_.end > batch.ticks_decoded);
}

/// At least one is missing; the first sample after them shows how many.
void PmSeries::count_gap(const PmBatch& batch) {
  const auto first =
      std::ranges::find_if(batch.times, [&](const PmTime& time) { return sound(batch, time); });
  if (gap_ && first != batch.times.end()) {
    gap_ = false;
    // By the length of a sample: that of the plan is in cycles on some chips.
    const std::uint64_t length = std::max<std::uint64_t>(1, last_.end - last_.begin);
    const std::uint64_t missing = (first->begin - last_.end + length / 2) / length;
    if (last_.end > 0 && missing > 1) counts_.lost += missing - 1;
  }
  if (!batch.overflowed) return;
  ++counts_.overflows;
  ++counts_.lost;
  gap_ = true;
}

std::optional<double> PmSeries::value_of(std::size_t track, double value) const {
  if (!std::isfinite(value)) return {};
  if (plan_.tracks[track].unit == "percent") return std::clamp(value, 0.0, kAll);
  return std::max(value, 0.0);
}

bool PmSeries::is_by_cpu(const PmBatch& batch, const PmTime& first, const PmTime& last) {
  return batch.ticks_started != 0 && first.begin >= batch.ticks_started &&
         last.end <= batch.ticks_decoded;
}

/// On the line from the look before to this one.
std::int64_t PmSeries::host_by_cpu(const PmBatch& batch, std::uint64_t ticks) const {
  const bool known = looked_.ticks >= batch.ticks_started && looked_.ticks < batch.ticks_decoded;
  const Moment from = known ? looked_ : Moment{batch.ticks_started, batch.started};
  const double slope = static_cast<double>(batch.decoded - from.host) /
                       static_cast<double>(batch.ticks_decoded - from.ticks);
  const double passed = static_cast<double>(signed_of(ticks) - signed_of(from.ticks));
  return from.host + std::llround(passed * slope);
}

/// Sampling never pauses, so that the newest sample gets older by as much as the host's clock goes
/// on; but for a look after an overflow. Else its clock counts something else, or was set.
bool PmSeries::has_known_clock(const PmBatch& batch, std::uint64_t end) {
  if (parted_ >= kMostParted || batch.overflowed) return parted_ < kMostParted;
  if (!together_) together_ = {end, batch.decoded};
  const std::int64_t passed = batch.decoded - together_->second;
  const std::int64_t ahead = signed_of(end - together_->first) - passed;
  const auto allowed = std::llround(static_cast<double>(passed) * kMostDrift) + kMostLag;
  if (std::abs(ahead) <= allowed) return true;
  parted_ = batch.decoded - parted_at_ < kForgiven ? parted_ + 1 : 1;
  parted_at_ = batch.decoded;
  together_ = {end, batch.decoded};
  return parted_ < kMostParted;
}

/// By the newest sample that has times at all.
bool PmSeries::has_no_clock(const PmBatch& batch, const ClockFit& clock) {
  const auto newest =
      std::find_if(batch.times.rbegin(), batch.times.rend(),
                   [](const PmTime& time) { return time.begin != 0 && time.end > time.begin; });
  if (newest == batch.times.rend() || is_by_cpu(batch, *newest, *newest)) return false;
  return clock.unknown() || !has_known_clock(batch, newest->end);
}

void PmSeries::convert(const PmBatch& batch, const ClockFit& clock, std::vector<PmPoint>& points) {
  const std::size_t tracks = plan_.tracks.size();
  if (batch.times.size() * tracks != batch.values.size()) return;
  count_gap(batch);
  counts_.samples += batch.times.size();
  if (has_no_clock(batch, clock)) {
    counts_.of_no_clock += batch.times.size();
    return;
  }
  std::vector<std::size_t> good;
  good.reserve(batch.times.size());
  for (std::size_t i = 0; i < batch.times.size(); ++i) {
    if (!sound(batch, batch.times[i])) {
      ++counts_.without_time;
      continue;
    }
    last_ = batch.times[i];
    good.push_back(i);
  }
  if (good.empty()) return;
  const bool by_cpu = is_by_cpu(batch, batch.times[good.front()], batch.times[good.back()]);
  if (by_cpu) counts_.by_cpu += good.size();
  if (!by_cpu)
    clock_.fit(signed_of(batch.times[good.front()].begin), signed_of(batch.times[good.back()].end),
               clock.cupti(batch.started), clock.cupti(batch.decoded));
  for (const std::size_t i : good) {
    const std::uint64_t begin = batch.times[i].begin;
    const std::int64_t time =
        by_cpu ? host_by_cpu(batch, begin) : clock.host(clock_.cupti(signed_of(begin)));
    for (std::size_t track = 0; track < tracks; ++track) {
      if (const auto value = value_of(track, batch.values[i * tracks + track]))
        points.push_back({time, track, *value});
    }
  }
  looked_ = {batch.ticks_decoded, batch.decoded};
}

}  // namespace fathom::cuda
