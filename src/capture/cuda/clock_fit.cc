// Converts CUPTI's times to the host's clock by readings of both.
#include "capture/cuda/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fathom::cuda {
namespace {

/// It is no jump within the readings' own errors and this.
constexpr std::int64_t kLeastJump = 100'000;
/// Of a reading: wider ones were interrupted.
constexpr std::int64_t kWide = 20'000;
/// Where no good reading is to be had for so long, a wide one is better than none.
constexpr std::int64_t kLongest = 2'000'000'000;
constexpr std::size_t kMostReadings = 256;
/// Nobody sets a clock so often in a row.
constexpr std::size_t kMostContradictions = 3;
/// Readings so many times their errors apart show drift to 50 ppm.
constexpr std::int64_t kTrustworthy = 20'000;
constexpr double kMillion = 1e6;

/// 1 where the readings are so close that their errors would say more than the clocks' drift.
double slope_of(const ClockReading& from, const ClockReading& to) {
  const std::int64_t passed = to.cupti - from.cupti;
  if (passed <= kTrustworthy * (from.error() + to.error())) return 1;
  return static_cast<double>(to.host() - from.host()) / static_cast<double>(passed);
}

}  // namespace

std::int64_t ClockFit::Line::host(std::int64_t cupti) const {
  const auto distance = static_cast<double>(cupti - at.cupti);
  // The product is small where the clocks run alike; its parts are not.
  return at.host() + (cupti - at.cupti) + std::llround(distance * (slope - 1));
}

void ClockFit::jump(const ClockReading& reading) {
  before_.assign(readings_.end() - std::min<std::ptrdiff_t>(2, std::ssize(readings_)),
                 readings_.end());
  if (contradictions_ == 0) settled_ = before_;
  if (++contradictions_ == kMostContradictions) {
    unknown_ = true;
    quality_.jumps -= contradictions_ - 1;
    readings_ = settled_;
    before_.clear();
    return;
  }
  readings_.assign(1, reading);
  first_ = reading;
  ++quality_.jumps;
}

/// What the line so far would have said of this reading is how wrong it may have been.
void ClockFit::judge(const ClockReading& reading) {
  std::int64_t error = reading.error();
  if (readings_.size() >= 2) {
    const std::int64_t said = host(reading.cupti);
    error = std::max(error, std::abs(said - reading.host()) / 2);
  }
  quality_.error = std::max(quality_.error, error);
}

void ClockFit::add(const ClockReading& reading) {
  if (reading.after < reading.before || unknown_) return;
  // Once, so that nothing below fails halfway.
  readings_.reserve(kMostReadings + 1);
  before_.reserve(2);
  settled_.reserve(2);
  if (readings_.empty()) {
    readings_.push_back(reading);
    first_ = reading;
    quality_.readings = 1;
    quality_.error = reading.error();
    return;
  }
  const ClockReading& last = readings_.back();
  const std::int64_t host_passed = reading.host() - last.host();
  const std::int64_t cupti_passed = reading.cupti - last.cupti;
  const double allowed = static_cast<double>(host_passed) * kMostDrift +
                         static_cast<double>(kLeastJump + reading.error() + last.error());
  if (cupti_passed <= 0 || std::abs(static_cast<double>(cupti_passed - host_passed)) > allowed) {
    if (host_passed > 0) jump(reading);
    return;
  }
  contradictions_ = 0;
  const std::int64_t good = std::max(kWide, 2 * last.error());
  if (2 * reading.error() > good && host_passed < kLongest) return;
  judge(reading);
  readings_.push_back(reading);
  ++quality_.readings;
  if (readings_.size() > kMostReadings) readings_.erase(readings_.begin());
  quality_.drift_ppm = (1 / slope_of(first_, reading) - 1) * kMillion;
}

ClockFit::Line ClockFit::line_at(std::int64_t cupti) const {
  // Before a jump of CUPTI's clock to a later time, its old line holds.
  const bool old = before_.size() == 2 && cupti < readings_.front().cupti;
  const std::vector<ClockReading>& all = old ? before_ : readings_;
  if (all.size() < 2) return {all.front(), 1};
  auto next = std::ranges::upper_bound(all, cupti, {}, &ClockReading::cupti);
  if (next == all.begin()) ++next;
  if (next == all.end()) --next;
  const ClockReading& from = *std::prev(next);
  return {from, slope_of(from, *next)};
}

std::int64_t ClockFit::host(std::int64_t cupti) const {
  return readings_.empty() ? cupti : line_at(cupti).host(cupti);
}

/// Each round leaves the clocks' drift of what was missing: of an hour, 250 ns after two.
std::int64_t ClockFit::cupti(std::int64_t host) const {
  if (readings_.empty()) return host;
  constexpr int kRounds = 3;
  std::int64_t found = readings_.back().cupti + (host - readings_.back().host());
  for (int round = 0; round < kRounds; ++round) found += host - this->host(found);
  return found;
}

}  // namespace fathom::cuda
