// A format that a trace can be written in: what it is called and how it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/result.h"
#include "store/sampled_time.h"
#include "store/trace.h"

namespace fathom {

/// What of a trace is written. Nothing set means everything.
struct WriteSelection {
  std::optional<Interval> window;          ///< What starts in it.
  std::optional<std::int32_t> device;      ///< Of device work and counters: only this device's.
  SampledTime time = SampledTime::on_cpu;  ///< Of sampled stacks.
  /// Of a profile of functions: these rows, in place of the trace's.
  std::optional<std::vector<FunctionTime>> functions;
};

/// What was left out because the target has no place for it.
struct WriteCounts {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;         ///< Slices, flow ends, instants, samples.
  std::uint64_t unbound_flows = 0;  ///< perfetto: ends of arrows in no slice.
};

/// The end of writing: hands on what is left, and counts it. `Out` is a WriteBuffer or has one.
template <typename Out>
Result<WriteCounts> finish(Out& out, WriteCounts counts) {
  const Result<void> finished = out.finish();
  if (!finished) return finished.error();
  counts.bytes = out.written();
  return counts;
}

/// Whether a format holds stacks or functions and nothing else.
enum class WritesStacks : std::uint8_t {
  no,
  samples,
  samples_or_functions,  ///< Without samples, each function by its own time.
  functions,             ///< No stacks: a profile of functions, and nothing else.
};

/// A self-describing exporter. Nothing registers itself: export/all.cc names them all.
struct TraceWriter {
  std::string_view id;     ///< Stable name used on the command line, e.g. "chrome".
  std::string_view title;  ///< One line.
  bool text = false;       ///< May be shown on a terminal.
  WritesStacks writes = WritesStacks::no;
  std::span<const std::string_view> extensions;  ///< With the dot; the longest match wins.
  /// Writes and finishes. Memory beyond the trace: a buffer; `perfetto` 4 bytes per slice besides.
  Result<WriteCounts> (*write)(const Trace& trace, const WriteSelection& selection, ByteSink& sink);
};

std::span<const TraceWriter> all_writers();
/// By id, or nullptr.
const TraceWriter* find_writer(std::string_view id);
/// By a file's name, a ".gz" at its end aside; or nullptr.
const TraceWriter* writer_for(std::string_view path);

}  // namespace fathom
