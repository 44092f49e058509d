// Reads what the sampler wrote about itself.
#include "reports/sample_notes.h"

#include "analysis/util/json_list.h"

namespace fathom {

void note_unsampled(const Trace& trace, std::vector<std::string>& notes) {
  const Fact* const left = trace.fact("samples.left_to_torch");
  if (left == nullptr) return;
  const std::string count(json_unquoted(left->value));
  notes.push_back((count == "1" ? "A process was" : count + " processes were") +
                  std::string(" sampled only until PyTorch was loaded: its profiler has the rest. "
                              "fathom run --with samples samples it to the end."));
}

}  // namespace fathom
