// PELT, and what its segments say about warm-up.
#include "stats/warm_up.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace fathom {
namespace {

/// Two values have a variance.
constexpr std::size_t kShortest = 2;
constexpr std::size_t kFewest = 20;
/// Of logarithms: differences of times below 10^-5 are those of clocks.
constexpr double kLeastVariance = 1e-10;
constexpr double kSameLevel = 0.01;
constexpr double kPenalty = 15;

/// Sums from which mean and variance of any segment follow.
class Segments {
 public:
  explicit Segments(std::span<const double> values) : sums_{0}, squares_{0} {
    // Around their mean, so that squares lose nothing.
    const double middle = std::accumulate(values.begin(), values.end(), 0.0) /
                          static_cast<double>(std::max<std::size_t>(1, values.size()));
    for (const double value : values) {
      const double apart = value - middle;
      sums_.push_back(sums_.back() + apart);
      squares_.push_back(squares_.back() + apart * apart);
    }
  }
  [[nodiscard]] double mean(std::size_t begin, std::size_t end) const {
    return (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
  }
  [[nodiscard]] double variance(std::size_t begin, std::size_t end) const {
    const double level = mean(begin, end);
    const double square =
        (squares_[end] - squares_[begin]) / static_cast<double>(end - begin) - level * level;
    return std::max(kLeastVariance, square);
  }
  /// -2·log-likelihood, less what is the same for all divisions.
  [[nodiscard]] double cost(std::size_t begin, std::size_t end) const {
    return static_cast<double>(end - begin) * std::log(variance(begin, end));
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

/// Where the last segment may begin.
struct Candidate {
  std::size_t begin = 0;
  std::size_t last_end = std::numeric_limits<std::size_t>::max();  ///< To look for it at.
};

}  // namespace

std::vector<std::size_t> changepoints(std::span<const double> values, double penalty) {
  const std::size_t n = values.size();
  if (n < 2 * kShortest) return {};
  const Segments segments(values);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(n + 1, 0);  // where the last segment of the best division begins
  best[0] = -penalty;
  std::vector<Candidate> candidates = {{}};
  for (std::size_t end = kShortest; end <= n; ++end) {
    std::erase_if(candidates, [&](const Candidate& each) { return each.last_end < end; });
    for (const auto& [begin, last_end] : candidates) {
      const double total = best[begin] + segments.cost(begin, end) + penalty;
      if (total < best[end]) {
        best[end] = total;
        last[end] = begin;
      }
    }
    // A beginning that is worse already without the penalty can no more become the best, once a
    // segment that begins at `end` instead is long enough.
    for (Candidate& each : candidates) {
      if (best[each.begin] + segments.cost(each.begin, end) > best[end])
        each.last_end = std::min(each.last_end, end + kShortest - 1);
    }
    candidates.push_back({.begin = end + 1 - kShortest});
  }
  std::vector<std::size_t> found;
  for (std::size_t end = last[n]; end > 0; end = last[end]) found.push_back(end);
  std::ranges::reverse(found);
  return found;
}

std::string_view to_string(Steadiness kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"flat", "warm", "slowed",
                                                             "never_steady"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<WarmUp> find_warm_up(std::span<const double> times) {
  const std::size_t n = times.size();
  if (n < kFewest) return std::nullopt;
  std::vector<double> logs;
  logs.reserve(n);
  for (const double time : times) {
    if (!(time > 0) || !std::isfinite(time)) return std::nullopt;
    logs.push_back(std::log(time));
  }
  std::vector<std::size_t> begins = changepoints(logs, kPenalty * std::log(static_cast<double>(n)));
  begins.insert(begins.begin(), 0);
  const Segments segments(logs);
  const double level = segments.mean(begins.back(), n);
  const double same = std::max(kSameLevel, std::sqrt(segments.variance(begins.back(), n)));
  std::size_t steady = begins.size() - 1;
  bool faster_before = false;
  bool differs = false;
  for (std::size_t i = begins.size() - 1; i-- > 0;) {
    const double mean = segments.mean(begins[i], begins[i + 1]);
    if (std::abs(mean - level) > same) {
      differs = true;
      faster_before = faster_before || mean < level;
    } else if (!differs) {
      steady = i;
    }
  }
  if (!differs) return WarmUp{};
  const std::size_t after = begins[steady];
  if (4 * (n - after) < n) return WarmUp{.kind = Steadiness::never_steady, .after = n};
  return WarmUp{.kind = faster_before ? Steadiness::slowed : Steadiness::warm, .after = after};
}

std::optional<WarmUp> find_warm_up_of_many(std::span<const double> times, std::size_t most) {
  // PELT takes a time that grows with the square where nothing changes.
  const std::size_t group = (times.size() + most - 1) / most;
  if (group <= 1) return find_warm_up(times);
  std::vector<double> means;
  for (; times.size() >= group; times = times.subspan(group)) {
    const std::span<const double> some = times.first(group);
    means.push_back(std::accumulate(some.begin(), some.end(), 0.0) / static_cast<double>(group));
  }
  std::optional<WarmUp> found = find_warm_up(means);
  if (found) found->after *= group;
  return found;
}

double autocorrelation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double apart = values[i] - mean;
    squares += apart * apart;
    if (i > 0) products += apart * (values[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace fathom
