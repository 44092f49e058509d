// Reads what the sampler wrote about itself.
#include "reports/sample_notes.h"

#include "analysis/samples/unsampled.h"
#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "store/sample_weights.h"

namespace fathom {

void note_unsampled(const Trace& trace, std::vector<std::string>& notes) {
  const Duration missed = unsampled_time(trace);
  if (missed > Duration{}) {
    notes.push_back(
        "By what the kernel counted when the program ended, its threads were on a processor for " +
        duration_text(missed) +
        " more: threads and processes that ended before they were looked at are missing.");
  }
  const std::string unseen = started_threads(trace).text();
  if (!unseen.empty()) notes.push_back(unseen + ".");
  const Fact* const left = trace.fact("samples.left_to_torch");
  if (left == nullptr) return;
  const std::string count(json_unquoted(left->value));
  notes.push_back((count == "1" ? "A process was" : count + " processes were") +
                  std::string(" sampled only until PyTorch was loaded: its profiler has the rest. "
                              "fathom run --with samples samples it to the end."));
}

void note_weights(const Trace& trace, std::vector<std::string>& notes) {
  const std::string unit(weight_unit(trace));
  if (unit == "weights") {
    notes.emplace_back("The file weighs stacks without a unit: shares are of its weights.");
  } else if (!unit.empty()) {
    notes.push_back("The file weighs stacks in " + unit + ", not in time: shares are of these.");
  }
  if (!waits_are_known(trace)) {
    notes.emplace_back(
        "Another profiler recorded these stacks. What threads waited for is not in them; fathom "
        "run --with samples records it.");
  }
}

}  // namespace fathom
