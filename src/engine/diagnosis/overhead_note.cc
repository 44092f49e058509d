// Writes the note on what recording cost, and whether the verdict may be due to it.
#include "engine/diagnosis/overhead_note.h"

#include <string>
#include <string_view>
#include <vector>

#include "analysis/machine/recording_overhead.h"
#include "analysis/util/json_list.h"

namespace fathom {
namespace {

/// From this share of a recorded step on, the verdict is doubted: the rule profiler-overhead warns.
constexpr double kDoubtfulPercent = 10.0;

std::string interval(const Trace& trace) {
  const std::optional<OverheadInterval> ends = overhead_interval(trace);
  if (!ends) return {};
  return " In 19 of 20 cases the ratio lies between " + ends->low + " and " + ends->high + ".";
}

std::string doubt(VerdictId verdict) {
  const std::string name(to_string(verdict));
  switch (verdict) {
    case VerdictId::cannot_tell:
      return {};
    case VerdictId::host_bound:
    case VerdictId::latency_bound:
      return " Recording slows the host, so the verdict " + name +
             " may be an artefact of it: time the steps without a profiler.";
    default:
      return " The verdict " + name + " may be an artefact of that.";
  }
}

}  // namespace

std::optional<OverheadInterval> overhead_interval(const Trace& trace) {
  const Fact* const fact = trace.fact("overhead.ratio_interval");
  if (fact == nullptr) return {};
  const std::vector<std::string_view> ends = json_elements(fact->value);
  if (ends.size() != 2) return {};
  return OverheadInterval{std::string(ends[0]), std::string(ends[1])};
}

std::string overhead_note(const Trace& trace, VerdictId verdict, bool due) {
  const std::optional<RecordingOverhead> overhead = recording_overhead(trace);
  if (!overhead) return {};
  std::string text = overhead_sentence(*overhead) + interval(trace);
  if (!overhead->shows() || overhead->percent() < kDoubtfulPercent) return text;
  return text + (due ? doubt(verdict)
                     : " Recording costs far less than that: the machine was busier meanwhile, or "
                       "these steps did other work.");
}

}  // namespace fathom
