// The list of export formats.
#include <algorithm>

#include "export/writer.h"

namespace fathom {

TraceWriter chrome_writer();
TraceWriter folded_writer();
TraceWriter perfetto_writer();
TraceWriter pprof_writer();
TraceWriter prof_writer();
TraceWriter speedscope_writer();

std::span<const TraceWriter> all_writers() {
  static const TraceWriter table[] = {
      chrome_writer(),     perfetto_writer(), folded_writer(),
      speedscope_writer(), pprof_writer(),    prof_writer(),
  };
  return table;
}

const TraceWriter* find_writer(std::string_view id) {
  const std::span<const TraceWriter> writers = all_writers();
  const auto at = std::ranges::find(writers, id, &TraceWriter::id);
  return at == writers.end() ? nullptr : &*at;
}

const TraceWriter* writer_for(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  const TraceWriter* best = nullptr;
  std::size_t longest = 0;
  for (const TraceWriter& writer : all_writers()) {
    for (const std::string_view end : writer.extensions) {
      if (!path.ends_with(end) || end.size() <= longest) continue;
      best = &writer;
      longest = end.size();
    }
  }
  return best;
}

}  // namespace fathom
