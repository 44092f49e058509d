// Computes the p value of the rank-sum test.
#include "stats/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMostExact = 20;

struct Ranked {
  double u = 0;     ///< Pairs in which the value of a is the larger one; equal ones count half.
  double ties = 0;  ///< Σ t³ - t over groups of equal values.
};

/// What is 0, as most values of rare work are, is counted and not sorted.
Ranked rank(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> others;  // value, of a
  double zeros_of_a = 0;
  double zeros_of_b = 0;
  for (const double value : a) {
    if (value == 0) {
      ++zeros_of_a;
    } else {
      others.emplace_back(value, true);
    }
  }
  for (const double value : b) {
    if (value == 0) {
      ++zeros_of_b;
    } else {
      others.emplace_back(value, false);
    }
  }
  std::ranges::sort(others, {}, &std::pair<double, bool>::first);
  Ranked out;
  double b_below = 0;
  const auto add_equal = [&](double of_a, double of_b) {
    out.u += of_a * (b_below + of_b / 2);
    b_below += of_b;
    const double equal = of_a + of_b;
    out.ties += equal * equal * equal - equal;
  };
  bool zeros_added = false;
  for (std::size_t i = 0; i < others.size();) {
    const double value = others[i].first;
    if (value > 0 && !zeros_added) {
      add_equal(zeros_of_a, zeros_of_b);
      zeros_added = true;
    }
    double of_a = 0;
    double of_b = 0;
    for (; i < others.size() && others[i].first == value; ++i) ++(others[i].second ? of_a : of_b);
    add_equal(of_a, of_b);
  }
  if (!zeros_added) add_equal(zeros_of_a, zeros_of_b);
  return out;
}

/// P(U ≤ u) for samples of n and m values without ties, from the number of orders that give each
/// value of U: an order of n and m ends with a value of either sample.
double exact_tail(std::size_t n, std::size_t m, double u) {
  const std::size_t most = n * m;
  // By size of the second sample, of the first sample at hand: orders by their U.
  std::vector<std::vector<double>> orders(m + 1, std::vector<double>(most + 1));
  for (auto& row : orders) row[0] = 1;  // an empty first sample has one order, with U = 0
  for (std::size_t first = 1; first <= n; ++first) {
    for (std::size_t second = 0; second <= m; ++second) {
      std::vector<double>& row = orders[second];  // still that of first - 1
      // The last one is of the first sample: all of the second lie below it.
      std::vector<double> next(most + 1);
      for (std::size_t value = second; value <= most; ++value) next[value] = row[value - second];
      if (second > 0) {
        const std::vector<double>& shorter = orders[second - 1];  // that of first already
        for (std::size_t value = 0; value <= most; ++value) next[value] += shorter[value];
      }
      row = std::move(next);
    }
  }
  double all = 0;
  double below = 0;
  for (std::size_t value = 0; value <= most; ++value) {
    all += orders[m][value];
    if (static_cast<double>(value) <= u) below += orders[m][value];
  }
  return below / all;
}

double normal_p(const Ranked& ranked, double n, double m) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ranked.ties / (all * (all - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, std::abs(ranked.u - n * m / 2) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

}  // namespace

std::optional<double> rank_sum_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const Ranked ranked = rank(a, b);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  if (ranked.ties > 0 || std::max(a.size(), b.size()) > kMostExact) return normal_p(ranked, n, m);
  return std::min(1.0, 2 * exact_tail(a.size(), b.size(), std::min(ranked.u, n * m - ranked.u)));
}

double smallest_rank_sum_p(std::size_t n, std::size_t m) {
  // Of all orders, as many as there are ways to choose n places, two are fully apart.
  const auto log_factorial = [](std::size_t k) { return std::lgamma(static_cast<double>(k) + 1); };
  return std::min(1.0, 2 * std::exp(log_factorial(n) + log_factorial(m) - log_factorial(n + m)));
}

}  // namespace fathom
