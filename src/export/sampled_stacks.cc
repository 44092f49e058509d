// Puts sampled stacks in order.
#include "export/sampled_stacks.h"

namespace fathom {

std::map<SampledThread, std::vector<SampledPart>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection) {
  std::map<SampledThread, std::vector<SampledPart>> threads;
  for (std::size_t row = 0; row < trace.stack_samples.size(); ++row) {
    const StackSample& sample = trace.stack_samples[row];
    const bool inside = !selection.window || (selection.window->begin <= sample.time &&
                                              sample.time < selection.window->end);
    if (!inside) continue;
    each_part(sample, selection.time, [&](Duration time, bool is_blocked) {
      threads[{sample.pid, sample.tid}].push_back(
          {.row = static_cast<std::uint32_t>(row), .time = time, .is_blocked = is_blocked});
    });
  }
  return threads;
}

}  // namespace fathom
