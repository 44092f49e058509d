// Puts sampled stacks in order.
#include "export/sampled_stacks.h"

namespace fathom {

std::map<SampledThread, std::vector<std::uint32_t>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection) {
  std::map<SampledThread, std::vector<std::uint32_t>> threads;
  for (std::size_t row = 0; row < trace.stack_samples.size(); ++row) {
    const StackSample& sample = trace.stack_samples[row];
    const bool inside = !selection.window || (selection.window->begin <= sample.time &&
                                              sample.time < selection.window->end);
    if (inside && sample.on_cpu > Duration{})
      threads[{sample.pid, sample.tid}].push_back(static_cast<std::uint32_t>(row));
  }
  return threads;
}

}  // namespace fathom
