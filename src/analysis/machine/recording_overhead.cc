// The facts are those that the recorder wrote into process-<pid>.json (docs/capture.md).
#include "analysis/machine/recording_overhead.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"

namespace fathom {
namespace {

constexpr std::string_view kPrefix = "overhead.";
constexpr std::string_view kOptions = "overhead.options.";
constexpr std::string_view kRatio = ".ratio";
constexpr std::string_view kSteps = ".steps";
/// Events cost up to 2 times the estimate on other machines; what is so much longer is not theirs.
constexpr std::int64_t kMostOfEstimate = 10;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> fact_number(const Trace& trace, std::string_view name) {
  const Fact* const fact = trace.fact(std::string(kPrefix) + std::string(name));
  return fact == nullptr ? std::nullopt : number(fact->value);
}

std::int64_t whole(const Trace& trace, std::string_view name) {
  const double value = fact_number(trace, name).value_or(0);
  return value > 0 && value < 9e18 ? static_cast<std::int64_t>(value) : 0;
}

std::vector<RecordingOverhead::Option> options_of(const Trace& trace) {
  std::vector<RecordingOverhead::Option> options;
  for (const Fact& fact : trace.facts) {
    std::string_view name = fact.key;
    if (!name.starts_with(kOptions) || !name.ends_with(kRatio)) continue;
    name = name.substr(kOptions.size(), name.size() - kOptions.size() - kRatio.size());
    const std::optional<double> ratio = number(fact.value);
    if (!ratio || *ratio <= 0) continue;
    const std::string steps = "options." + std::string(name) + std::string(kSteps);
    options.push_back({std::string(name), *ratio, whole(trace, steps)});
  }
  std::ranges::sort(options, {}, &RecordingOverhead::Option::name);
  return options;
}

/// The lower end of [low, high].
std::optional<double> least_ratio(const Trace& trace) {
  const Fact* const fact = trace.fact(std::string(kPrefix) + "ratio_interval");
  if (fact == nullptr) return {};
  const std::vector<std::string_view> ends = json_elements(fact->value);
  return ends.size() == 2 ? number(ends[0]) : std::nullopt;
}

std::string times_text(double ratio) { return real_text(ratio) + " times"; }

}  // namespace

bool RecordingOverhead::may_be_due_to(Duration events) const {
  if (profiled <= unprofiled || unprofiled <= Duration{}) return true;
  return (profiled - unprofiled) / kMostOfEstimate <= events;
}

std::optional<RecordingOverhead> recording_overhead(const Trace& trace) {
  const std::optional<double> ratio = fact_number(trace, "ratio");
  if (!ratio || *ratio <= 0) return {};
  RecordingOverhead overhead;
  overhead.ratio = *ratio;
  overhead.unprofiled = duration_ns(whole(trace, "unprofiled_median_ns"));
  overhead.profiled = duration_ns(whole(trace, "profiled_median_ns"));
  overhead.unprofiled_steps = whole(trace, "unprofiled_steps");
  overhead.profiled_steps = whole(trace, "profiled_steps");
  overhead.noise = std::max(0.0, fact_number(trace, "noise").value_or(0));
  overhead.least = least_ratio(trace);
  overhead.options = options_of(trace);
  // One ratio: that of the two medians beside it.
  if (overhead.profiled > Duration{} && overhead.unprofiled > Duration{}) {
    overhead.ratio = static_cast<double>(to_ns(overhead.profiled)) /
                     static_cast<double>(to_ns(overhead.unprofiled));
  }
  return overhead;
}

std::string overhead_sentence(const RecordingOverhead& overhead) {
  std::string text =
      "Recorded steps took " + times_text(overhead.ratio) +
      " as long as steps of this run that were not recorded (" + duration_text(overhead.profiled) +
      " and " + duration_text(overhead.unprofiled) + "; " + count_text(overhead.profiled_steps) +
      " and " + count_text(overhead.unprofiled_steps) + " steps)";
  if (overhead.unprofiled_steps < 2) {
    text += ", of which one alone does not show how much steps vary";
  } else if (overhead.in_noise()) {
    text += ", which is no more than those differ by among each other (" +
            percent_text(100 * overhead.noise) + ")";
  }
  std::string options;
  for (const RecordingOverhead::Option& option : overhead.options) {
    options += (options.empty() ? "" : ", ") + option.name + " " + times_text(option.ratio);
  }
  if (overhead.options.size() > 1) text += ". By option: " + options;
  return text + ".";
}

}  // namespace fathom
