// Picks examples by what they cost, and puts numbers into words.
#include "rules/common/evidence.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

constexpr std::size_t kExamples = 8;

}  // namespace

Evidence evidence_of(const RuleContext& rules, const std::vector<SliceId>& slices,
                     std::string text) {
  const Trace& trace = rules.trace();
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.slices = costliest(trace, slices);
  if (!evidence.slices.empty()) {
    const SliceId worst = evidence.slices.front();
    evidence.where = Interval{trace.slices.start[worst.row()], trace.slices.end(worst)};
    evidence.location = rules.sites.of(worst);
  }
  return evidence;
}

Evidence evidence_of(const RuleContext& rules, const Blamed& blamed, std::string text) {
  const Trace& trace = rules.trace();
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.slices = costliest(trace, blamed.activities);
  if (!evidence.slices.empty()) {
    const SliceId worst = evidence.slices.front();
    evidence.where = Interval{trace.slices.start[worst.row()], trace.slices.end(worst)};
    const bool on_device = is_device_activity(trace.kind(worst));
    const SliceId op = on_device ? rules.context.links().op[worst.row()] : worst;
    if (op.valid()) evidence.location = rules.sites.of(op);
  }
  return evidence;
}

std::vector<SliceId> costliest(const Trace& trace, std::vector<SliceId> slices) {
  // Of equal ones the first: the order of a file's threads decides nothing.
  const auto longest = [&trace](SliceId slice) {
    return std::tuple(-trace.slices.duration[slice.row()], trace.slices.start[slice.row()],
                      trace.track(slice).tid, slice);
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(slices.size(), kExamples));
  std::ranges::partial_sort(slices, slices.begin() + kept, {}, longest);
  slices.resize(static_cast<std::size_t>(kept));
  return slices;
}

Weight weight_of(const RuleContext& rules, Duration time, double warning, double critical) {
  const double percent = rules.percent(time);
  return percent >= critical  ? Weight::critical
         : percent >= warning ? Weight::warning
                              : Weight::note;
}

std::string per_step(const RuleContext& rules, Duration whole) {
  const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(rules.steps.size(), 1));
  return duration_text(whole / steps) + " (" + percent_text(rules.percent(whole)) + " of the step)";
}

std::string counted_noun(std::size_t count, std::string_view singular) {
  return count_text(static_cast<std::int64_t>(count)) + ' ' + std::string(singular) +
         (count == 1 ? "" : "s");
}

}  // namespace fathom
