// Writes the note on what recording cost, and whether the verdict may be due to it.
#include "engine/diagnosis/overhead_note.h"

#include "analysis/machine/recording_overhead.h"

namespace fathom {
namespace {

/// From this share of a recorded step on, the verdict is doubted: the rule profiler-overhead warns.
constexpr double kDoubtfulPercent = 10.0;

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

std::string overhead_note(const Trace& trace, VerdictId verdict) {
  const std::optional<RecordingOverhead> overhead = recording_overhead(trace);
  if (!overhead) return {};
  const bool doubtful = !overhead->in_noise() && overhead->percent() >= kDoubtfulPercent;
  return overhead_sentence(*overhead) + (doubtful ? doubt(verdict) : "");
}

}  // namespace fathom
