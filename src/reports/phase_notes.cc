// Names the kinds of evidence for phases, with how much each decided.
#include "reports/phase_notes.h"

#include <array>

#include "base/digit_groups.h"

namespace fathom {

std::string phase_note(const Phases& phases) {
  constexpr std::array<std::string_view, kPhaseEvidences> kNames = {
      "annotations",
      "names of operators",
      "autograd sequence numbers",
      "threads that only run the backward pass",
      "Python frames",
      "the order of calls before the backward pass, inferred",
      "updates in place after the backward pass, inferred"};
  std::string list;
  for (std::size_t i = 0; i < kPhaseEvidences; ++i) {
    if (phases.evidence[i] == 0) continue;
    list += (list.empty() ? "" : ", ") + std::string(kNames[i]) + " (" +
            grouped(phases.evidence[i]) + ")";
  }
  if (list.empty()) return "Nothing in the trace shows phases.";
  return "Phases come from, with how many host slices each decided: " + list +
         "; what is inside has the phase of what is around.";
}

}  // namespace fathom
