// Writes a trace, or a part of it, in another program's format.
#include "engine/export.h"

#include "export/writer.h"

namespace fathom {

std::vector<ExportFormat> export_formats() {
  std::vector<ExportFormat> formats;
  for (const TraceWriter& writer : all_writers())
    formats.push_back({std::string(writer.id), std::string(writer.title), writer.text});
  return formats;
}

std::string export_format_for(std::string_view path) {
  const TraceWriter* const writer = writer_for(path);
  return writer == nullptr ? "" : std::string(writer->id);
}

Result<Exported> export_trace(const Session& session, const Request& request, std::string_view to,
                              ByteSink& sink) {
  const TraceWriter* const writer = find_writer(to);
  if (writer == nullptr)
    return Error{ErrorCode::invalid_argument, "--to: '" + std::string(to) + "' is not a format"};
  Result<Selection> selected = session.select(request);
  if (!selected) return std::move(selected).error();
  WriteSelection selection{.window = {}, .device = (*selected).device};
  const Context context{session.trace(), session.analyses(), *selected, {}};
  if ((*selected).steps || (*selected).window) selection.window = context.window();
  const Result<WriteCounts> written = writer->write(session.trace(), selection, sink);
  if (!written) return written.error();
  return Exported{(*written).bytes, (*written).events, (*written).unbound_flows};
}

}  // namespace fathom
