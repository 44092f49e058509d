// Every trace format, most specific first, and the choice between them.
#include <span>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/looks_like.h"
#include "formats/other_profilers.h"

namespace fathom {

Format chrome_json();
Format fathom_wire();
Format folded();
Format perf_script();
Format pprof();
Format pstats();
Format speedscope();

std::span<const Format> all_formats() {
  static const Format table[] = {
      fathom_wire(), pstats(), speedscope(), folded(), chrome_json(), pprof(), perf_script(),
  };
  return table;
}

namespace {

std::string described(std::string_view path, const ByteSource& source) {
  std::string known = named_of_other_profiler(path);
  return known.empty() ? looks_like(source.head(), source.compression(), source.damage()) : known;
}

}  // namespace

Result<Trace> read_trace(std::string_view path, const ReadOptions& options) {
  Result<std::unique_ptr<ByteSource>> source = open_source(path, options.held);
  if (!source) return std::move(source).error();
  const std::span<const std::byte> head = (*source)->head();
  for (const Format& format : all_formats()) {
    if (!format.sniff(head)) continue;
    Result<Trace> trace = format.read(**source, options);
    if (trace) return trace;
    Error error = std::move(trace).error();
    if (error.code == ErrorCode::corrupt)
      error.message += "; this looks like " + described(path, **source);
    return std::move(error).in(path);
  }
  return Error{ErrorCode::corrupt, std::string(path) +
                                       ": not a trace that Fathom reads; this looks like " +
                                       described(path, **source)};
}

}  // namespace fathom
