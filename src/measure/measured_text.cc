// Puts values, spreads and claims into words.
#include "measure/measured_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/quantity_text.h"

namespace fathom::measure {
namespace {

/// Below it parts of a nanosecond are shown, which blocks of calls tell.
constexpr double kShort = 1000;

std::string count(std::size_t number) { return count_text(static_cast<std::int64_t>(number)); }

/// "+3.1 %" of 1.031.
std::string change_of(double ratio) {
  const double percent = 100 * (ratio - 1);
  if (percent == 0) return "0 %";
  return (percent > 0 ? "+" : "−") + percent_text(std::abs(percent));
}

std::string percentile(std::string_view name, const std::optional<double>& value, double quantile,
                       std::size_t size, Unit unit, std::string_view withheld) {
  const std::string title = ", " + std::string(name) + " ";
  if (value) return title + metric_text(*value, unit);
  return title + std::string(kNoValue) + " (" +
         (withheld.empty() ? percentile_reason(size, quantile) : std::string(withheld)) + ")";
}

}  // namespace

std::string metric_text(double value, Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return bytes_text(static_cast<std::int64_t>(std::llround(value)));
    case Unit::joules:
      return real_text(value) + " J";
    case Unit::per_second:
      return real_text(value) + " /s";
    case Unit::money:
      return real_text(value);
    case Unit::percent:
      return percent_text(value);
    case Unit::ns:
      break;
  }
  if (value < kShort) return real_text(std::round(value * 100) / 100) + " ns";
  return duration_text(duration_ns(std::llround(value)));
}

std::string change_text(const PairedRatio& ratio) {
  return change_of(ratio.ratio) + " (" + change_of(ratio.interval.low) + " to " +
         change_of(ratio.interval.high) + ")";
}

std::string claim_word(const Claim& claim, double resolution, Unit unit) {
  const bool speed = is_speed(unit);
  switch (claim.verdict) {
    case Verdict::faster:
      return speed ? "faster" : "less";
    case Verdict::slower:
      return speed ? "slower" : "more";
    case Verdict::same:
      return "same within " + within_text(resolution);
    case Verdict::cannot_tell:
      return "cannot tell";
  }
  return {};
}

std::string claim_line(const MeasuredMetric& metric, double resolution, bool reason) {
  if (!metric.base) return {};
  std::string text = claim_word(metric.claim, resolution, metric.unit);
  if (metric.claim.ratio) text += ": " + change_text(*metric.claim.ratio);
  if (reason && !metric.claim.reason.empty()) text += "; " + metric.claim.reason;
  return text;
}

std::string_view withheld_of(const MeasuredSide& side) {
  return side.never_steady() ? std::string_view("never steady") : std::string_view();
}

std::string unsteady_note(const MeasuredMetric& metric) {
  if (!metric.base || metric.claim.verdict == Verdict::cannot_tell) return {};
  if (!metric.base->never_steady() && !metric.now.never_steady()) return {};
  return "Values of a side were never steady. The verdict is about these pairs, whose order was "
         "drawn at random; of a level that would last it says nothing.";
}

std::string spread_text(const SampleSummary& summary, Unit unit, std::string_view withheld) {
  std::string text = "median " + metric_text(summary.median, unit);
  if (summary.median_interval) {
    text += " (" + metric_text(summary.median_interval->low, unit) + " to " +
            metric_text(summary.median_interval->high, unit) + ")";
  }
  text += ", mean " + metric_text(summary.mean, unit) + " ± " + metric_text(summary.stddev, unit) +
          ", " + metric_text(summary.min, unit) + " to " + metric_text(summary.max, unit);
  text += percentile("p95", summary.p95, 0.95, summary.count, unit, withheld);
  text += percentile("p99", summary.p99, 0.99, summary.count, unit, withheld);
  if (summary.outliers > 0)
    text += "; " + count(summary.outliers) + (summary.outliers == 1 ? " outlier" : " outliers");
  return text;
}

std::string steadiness_text(const MeasuredSide& side, Unit unit, const ValueWords& words) {
  if (!side.warm_up) return {};
  const std::string after = " after " + count(side.warm_up->after) + " " +
                            std::string(side.warm_up->after == 1 ? words.one : words.many);
  const std::string then =
      side.steady_median ? ", then median " + metric_text(*side.steady_median, unit) : "";
  switch (side.warm_up->kind) {
    case Steadiness::flat:
      return {};
    case Steadiness::warm:
      return "; faster" + after + " (" + std::string(words.warm_up) + ")" + then;
    case Steadiness::slowed:
      return "; slower" + after + then;
    case Steadiness::never_steady:
      return "; never steady: there is no one level, so no interval of the median";
  }
  return {};
}

std::string pairs_text(std::size_t pairs) {
  return count(pairs) + (pairs == 1 ? " pair" : " pairs") +
         " in random order, 95 % interval by the sign test";
}

std::string gpus_text(const Conditions& conditions) {
  std::vector<std::pair<std::string, std::string>> kinds;  // of GPUs, and their numbers
  for (const GpuCondition& gpu : conditions.gpus) {
    std::string kind = gpu.name.empty() ? "unknown" : gpu.name;
    if (gpu.power_limit_w) kind += ", power limit " + real_text(*gpu.power_limit_w) + " W";
    if (gpu.power_limit_w && gpu.default_power_limit_w &&
        *gpu.power_limit_w != *gpu.default_power_limit_w)
      kind += " (by default " + real_text(*gpu.default_power_limit_w) + " W)";
    auto same = std::ranges::find(kinds, kind, &std::pair<std::string, std::string>::first);
    if (same == kinds.end()) {
      kinds.emplace_back(std::move(kind), std::to_string(gpu.gpu));
    } else {
      same->second += ", " + std::to_string(gpu.gpu);
    }
  }
  std::string text;
  for (const auto& [kind, numbers] : kinds)
    text.append(text.empty() ? "GPU " : "; GPU ").append(numbers).append(": ").append(kind);
  if (!text.empty() && !conditions.driver.empty()) text += "; driver " + conditions.driver;
  return text;
}

std::string conditions_text(const Conditions& conditions) {
  std::string text = count_text(conditions.host.cores_allowed) + " of " +
                     count_text(conditions.host.cores) + " cores, " + conditions.host.cpu;
  if (conditions.cgroup.cpus) text += ", quota of " + real_text(*conditions.cgroup.cpus) + " CPUs";
  if (!conditions.host.governor.empty()) text += ", governor " + conditions.host.governor;
  if (conditions.load_at_start) {
    text += ", load " + real_text((*conditions.load_at_start)[0]);
    if (conditions.load_at_end) text += " → " + real_text((*conditions.load_at_end)[0]);
  }
  return text + ", Linux " + conditions.host.kernel;
}

std::string throttled_note(const Conditions& conditions) {
  if (conditions.throttled.value_or(0) <= 0) return {};
  return "The CPU quota of the control group held programs back " +
         count_text(*conditions.throttled) + " times meanwhile.";
}

}  // namespace fathom::measure
