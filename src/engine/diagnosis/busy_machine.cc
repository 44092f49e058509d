// Takes confidence from findings about operators that other programs kept off the processors.
#include "engine/diagnosis/busy_machine.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/machine/thread_time.h"
#include "base/quantity_text.h"

namespace fathom {
namespace {

/// From this share of its time on, the thread's operators are taken to be longer for it.
constexpr double kMuchPreempted = 30.0;

/// What shows that operators had to share the processors; "" where nothing does.
std::string shown_by(const Trace& trace, const std::vector<RankedFinding>& findings) {
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
  if (others == findings.end()) return {};
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

void doubt_operators(const Trace& trace, std::int32_t device,
                     std::vector<RankedFinding>& findings) {
  if (device >= 0) return;
  const std::string why = shown_by(trace, findings);
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
