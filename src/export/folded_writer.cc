// folded: sampled stacks as lines "main;work 1200000", from which flame graphs are drawn.
#include <algorithm>
#include <map>
#include <string>

#include "export/sampled_stacks.h"
#include "export/write_buffer.h"

namespace fathom {
namespace {

/// A stack's line without its weight. ";" and line breaks have a meaning there.
std::string line_of(const Trace& trace, const StackSample& sample,
                    std::vector<std::uint32_t>& rows) {
  std::string line;
  const auto add = [&line](std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == ';' || c == '\n' || c == '\r'; }, ',');
    line += (line.empty() ? "" : ";") + text;
  };
  frames_of(trace, sample.frame, rows);
  if (rows.empty()) add(thread_text(trace, sample));
  for (const std::uint32_t row : rows) add(frame_text(trace, row));
  return line;
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  WriteCounts counts;
  std::map<std::string, Duration> weights;
  std::vector<std::uint32_t> rows;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    for (const std::uint32_t row : samples) {
      const StackSample& sample = trace.stack_samples[row];
      weights[line_of(trace, sample, rows)] += sample.on_cpu;
      ++counts.events;
    }
  }
  WriteBuffer out(sink);
  for (const auto& [line, weight] : weights) {
    if (out.stopped()) break;
    out.text(line).character(' ').number(to_ns(weight)).character('\n');
  }
  const Result<void> finished = out.finish();
  if (!finished) return finished.error();
  counts.bytes = out.written();
  return counts;
}

constexpr std::string_view kExtensions[] = {".folded"};

}  // namespace

TraceWriter folded_writer() {
  return {.id = "folded",
          .title = "Sampled stacks with their ns on a processor, for flame graphs",
          .text = true,
          .extensions = kExtensions,
          .write = write};
}

}  // namespace fathom
