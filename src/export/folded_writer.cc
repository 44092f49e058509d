// folded: sampled stacks as lines "main;work 1200000", from which flame graphs are drawn.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "export/function_stacks.h"
#include "export/sampled_stacks.h"
#include "export/write_buffer.h"
#include "store/stack_texts.h"

namespace fathom {
namespace folded_format {
namespace {

Result<WriteCounts> write_samples(const Trace& trace, const WriteSelection& selection,
                                  ByteSink& sink) {
  WriteCounts counts;
  StackTexts texts(trace);
  std::map<StackTexts::Node, Duration> weights;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    for (const SampledPart& part : samples) {
      weights[texts.of(trace.stack_samples[part.row], part.is_blocked)] += part.time;
      ++counts.events;
    }
  }
  // All texts of deep stacks together may be longer than memory: one at a time.
  std::vector<std::pair<StackTexts::Node, Duration>> lines(weights.begin(), weights.end());
  std::ranges::sort(
      lines, [&texts](const auto& a, const auto& b) { return texts.less(a.first, b.first); });
  WriteBuffer out(sink);
  for (const auto& [stack, weight] : lines) {
    if (out.stopped()) break;
    out.text(texts.text(stack)).character(' ').number(to_ns(weight)).character('\n');
  }
  return finish(out, counts);
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  return write_stacks(trace, selection, sink, write_samples);
}

constexpr std::string_view kExtensions[] = {".folded"};

}  // namespace
}  // namespace folded_format

TraceWriter folded_writer() {
  return {.id = "folded",
          .title = "Sampled stacks with their ns on a processor or blocked, for flame graphs",
          .text = true,
          .writes = WritesStacks::samples_or_functions,
          .extensions = folded_format::kExtensions,
          .write = folded_format::write};
}

}  // namespace fathom
