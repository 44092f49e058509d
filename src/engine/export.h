// A trace, or a part of it, written in another program's format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "engine/session.h"
#include "store/sampled_time.h"

namespace fathom {

/// What was written.
struct Exported {
  std::uint64_t bytes = 0;  ///< Before compression.
  std::uint64_t events = 0;
  std::uint64_t unbound_flows = 0;  ///< Ends of arrows that lie in no slice, and were left out.
};

/// The formats, as --to takes them, and a line about each.
struct ExportFormat {
  std::string id;
  std::string title;
  bool text = false;  ///< May be shown on a terminal.
};
std::vector<ExportFormat> export_formats();
/// The format that a file's name asks for ("x.json.gz": chrome), or "".
std::string export_format_for(std::string_view path);

/// Whether there is anything to write: formats of stacks have no place for what else a recording
/// holds. `time` says which time of sampled threads is meant; nothing: on a processor. Errors:
/// invalid_argument, with what to do instead; and as of Session::select(). O(samples).
Result<void> check_export(const Session& session, const Request& request, std::string_view to,
                          std::optional<SampledTime> time = {});

/// Writes what steps, device and window of the request select, and finishes the sink. Errors:
/// those of check_export(), before anything is written; the sink's.
Result<Exported> export_trace(const Session& session, const Request& request, std::string_view to,
                              ByteSink& sink, std::optional<SampledTime> time = {});

}  // namespace fathom
