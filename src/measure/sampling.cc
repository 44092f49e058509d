// Draws the order within pairs, and stops by precision, number or time.
#include "measure/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "stats/median_interval.h"
#include "stats/precision.h"

namespace fathom::measure {
namespace {

/// Beyond these the precision is computed anew only when they have grown by this part.
constexpr std::size_t kEveryPair = 20;

class Sampler {
 public:
  Sampler(const SamplingPlan& plan, const SamplingHooks& hooks)
      : plan_(plan), hooks_(hooks), order_(plan.seed) {}

  Sampled run() {
    while (!done()) {
      if (!take_pair()) {
        out_.stopped = Stopped::asked;
        break;
      }
      look();
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t pairs() const { return out_.now.size(); }
  /// Half a width of one median is its own precision; nothing is decided by it.
  [[nodiscard]] double wanted() const {
    return plan_.paired ? half_width_for(plan_.resolution) : plan_.resolution;
  }

  bool done() {
    if (plan_.runs && pairs() >= *plan_.runs) {
      out_.stopped = Stopped::runs;
      return true;
    }
    if (pairs() < plan_.least) return false;
    // Fewer pairs look too precise too often.
    if (plan_.until_precise && pairs() >= kPilotPairs &&
        (!half_width_ || *half_width_ <= wanted())) {
      out_.stopped = half_width_ ? Stopped::precise : Stopped::undecidable;
      return true;
    }
    out_.stopped = Stopped::time;
    return plan_.time && hooks_.elapsed() >= *plan_.time;
  }

  bool take_pair() {
    const std::size_t pair = pairs();
    const bool base_first = (order_() & 1U) != 0;
    std::optional<double> base;
    if (plan_.paired && base_first && !(base = hooks_.measure(Side::base, pair))) return false;
    const std::optional<double> now = hooks_.measure(Side::now, pair);
    if (!now) return false;
    if (plan_.paired && !base_first && !(base = hooks_.measure(Side::base, pair))) return false;
    if (base) {
      out_.base.push_back(*base);
      first_.push_back(base_first ? *base : *now);
      second_.push_back(base_first ? *now : *base);
    }
    out_.now.push_back(*now);
    return true;
  }

  void look() {
    if (pairs() < kEveryPair || pairs() >= next_look_) {
      half_width_ =
          plan_.paired ? blind_half_width_in_order(first_, second_) : half_width_of_median();
      next_look_ = pairs() + std::max<std::size_t>(1, pairs() / kEveryPair);
    }
    const Duration elapsed = hooks_.elapsed();
    if (plan_.until_precise && pairs() == kPilotPairs && half_width_ && std::isfinite(*half_width_))
      announce(elapsed);
    if (hooks_.progress) {
      hooks_.progress(
          {.pairs = pairs(), .elapsed = elapsed, .half_width = half_width_, .left = left(elapsed)});
    }
  }

  [[nodiscard]] std::optional<double> half_width_of_median() const {
    std::vector<double> sorted = out_.now;
    std::ranges::sort(sorted);
    const std::optional<Bounds> bounds = median_interval(sorted);
    const double middle = sorted[sorted.size() / 2];
    if (!bounds || !(middle > 0)) return std::nullopt;
    return (bounds->high - bounds->low) / 2 / middle;
  }

  /// How long so many pairs take, at the pace so far.
  [[nodiscard]] Duration time_of(std::size_t count, Duration elapsed) const {
    const double each = static_cast<double>(to_ns(elapsed)) / static_cast<double>(pairs());
    return duration_ns(
        static_cast<std::int64_t>(std::min(9e18, each * static_cast<double>(count))));
  }

  void announce(Duration elapsed) {
    std::optional<double> width;
    if (plan_.paired) width = blind_half_width_in_order(first_, second_, Reach::larger);
    // That one has no end where more than a quarter of the pairs have a 0.
    if (!width || !std::isfinite(*width)) width = half_width_;
    const std::size_t needed =
        std::max(pairs(), pairs_for(wanted(), kPilotError * *width, pairs()));
    out_.announced =
        Announcement{.after = pairs(), .pairs = needed, .time = time_of(needed, elapsed)};
    if (hooks_.announcement) hooks_.announcement(*out_.announced);
  }

  [[nodiscard]] std::optional<Duration> left(Duration elapsed) const {
    std::optional<Duration> end;
    const auto at_most = [&](Duration time) { end = end ? std::min(*end, time) : time; };
    if (plan_.runs) at_most(time_of(*plan_.runs, elapsed));
    if (plan_.time) at_most(std::max(*plan_.time, time_of(plan_.least, elapsed)));
    if (plan_.until_precise && half_width_ && std::isfinite(*half_width_))
      at_most(time_of(std::max(pairs(), pairs_for(wanted(), *half_width_, pairs())), elapsed));
    if (!end) return std::nullopt;
    return std::max(Duration{}, *end - elapsed);
  }

  const SamplingPlan& plan_;
  const SamplingHooks& hooks_;
  std::mt19937_64 order_;
  Sampled out_;
  std::vector<double> first_;  // of complete pairs, in the order of time
  std::vector<double> second_;
  std::optional<double> half_width_;
  std::size_t next_look_ = 0;
};

}  // namespace

std::string_view to_string(Stopped reason) {
  static constexpr std::array<std::string_view, 5> kNames = {"runs", "time", "precise", "asked",
                                                             "undecidable"};
  return kNames[static_cast<std::size_t>(reason)];
}

Sampled sample(const SamplingPlan& plan, const SamplingHooks& hooks) {
  return Sampler(plan, hooks).run();
}

std::uint64_t new_seed() {
  std::random_device device;
  // JSON readers keep whole numbers exactly up to 2^53.
  return (std::uint64_t{device()} << 20U ^ device()) & ((std::uint64_t{1} << 53U) - 1);
}

}  // namespace fathom::measure
