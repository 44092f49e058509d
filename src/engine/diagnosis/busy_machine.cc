// Takes confidence from findings about operators that other programs kept off the processors.
#include "engine/diagnosis/busy_machine.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/machine/thread_time.h"
#include "base/quantity_text.h"
#include "stats/summary.h"

namespace fathom {
namespace {

/// From this share of its time on, the thread's operators are taken to be longer for it.
constexpr double kMuchPreempted = 30.0;

/// From so many steps on, quartiles that differ so much show that equal work takes unequal time.
constexpr std::size_t kFewestSteps = 6;
constexpr double kUnequal = 1.6;
/// Of the largest number of operators in a step: steps with fewer do something else.
constexpr double kAsMany = 0.98;

/// How many operators start in each of the steps, which follow one another.
std::vector<std::int64_t> operators_in(const Trace& trace, std::span<const Step* const> steps) {
  std::vector<std::int64_t> counts(steps.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.kind(SliceId(row)) != SliceKind::cpu_op) continue;
    const Time start = trace.slices.start[row];
    const auto after = std::ranges::upper_bound(
        steps, start, {}, [](const Step* step) { return step->window.begin; });
    if (after == steps.begin() || start >= (*std::prev(after))->window.end) continue;
    ++counts[static_cast<std::size_t>(after - steps.begin()) - 1];
  }
  return counts;
}

/// "steps of as many operators take 25.0 ms to 635 ms": where the middle half of them differs by
/// much. "" where steps do unequal work, or take about as long.
std::string unequal_steps(const Trace& trace, std::span<const Step* const> steps) {
  const auto begins = [](const Step* step) { return step->window.begin; };
  if (steps.size() < kFewestSteps || !std::ranges::is_sorted(steps, {}, begins)) return {};
  const std::vector<std::int64_t> counts = operators_in(trace, steps);
  const auto [fewest, most] = std::ranges::minmax(counts);
  if (fewest == 0 || static_cast<double>(fewest) < kAsMany * static_cast<double>(most)) return {};
  std::vector<double> lengths;
  for (const Step* const step : steps)
    lengths.push_back(static_cast<double>(to_ns(step->window.length())));
  std::ranges::sort(lengths);
  if (quantile(lengths, 0.75) < kUnequal * quantile(lengths, 0.25)) return {};
  const auto text = [](double ns) {
    return duration_text(duration_ns(static_cast<std::int64_t>(ns)));
  };
  return "steps of as many operators take " + text(lengths.front()) + " to " + text(lengths.back());
}

/// What shows that operators had to share the processors; "" where nothing does.
std::string shown_by(const Trace& trace, std::span<const Step* const> steps,
                     const std::vector<RankedFinding>& findings) {
  const std::optional<ThreadTime> time = thread_time(trace);
  if (time && time->wall > Duration{}) {
    const double percent = 100.0 * static_cast<double>(to_ns(time->preempted)) /
                           static_cast<double>(to_ns(time->wall));
    if (percent >= kMuchPreempted)
      return "the thread was without a processor for " + percent_text(percent) + " of its time";
  }
  const auto others = std::ranges::find_if(findings, [](const RankedFinding& ranked) {
    return ranked.finding.rule == "neighbour" && ranked.finding.key == "cpu" &&
           ranked.finding.weight != Weight::note;
  });
  if (others == findings.end()) return time ? std::string() : unequal_steps(trace, steps);
  std::string title = others->finding.title;
  title.front() = 'o';
  return title;
}

bool is_about_operators(const Trace& trace, const Finding& finding) {
  return std::ranges::any_of(finding.claims, [&trace](const Claim& claim) {
    return claim.slice.valid() && trace.kind(claim.slice) == SliceKind::cpu_op;
  });
}

}  // namespace

void doubt_operators(const Trace& trace, std::span<const Step* const> steps, std::int32_t device,
                     std::vector<RankedFinding>& findings) {
  if (device >= 0) return;
  const std::string why = shown_by(trace, steps, findings);
  if (why.empty()) return;
  for (RankedFinding& ranked : findings) {
    Finding& finding = ranked.finding;
    if (!is_about_operators(trace, finding)) continue;
    if (finding.confidence == Confidence::high) finding.confidence = Confidence::medium;
    if (!finding.counter_evidence.empty()) finding.counter_evidence += " ";
    finding.counter_evidence +=
        "Operators may be shorter on a free machine, and some more than others: " + why + ".";
  }
}

}  // namespace fathom
