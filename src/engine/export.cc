// Writes a trace, or a part of it, in another program's format.
#include "engine/export.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "export/function_stacks.h"
#include "export/sampled_stacks.h"
#include "export/writer.h"
#include "reports/profile_parts.h"

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

namespace {

struct Prepared {
  const TraceWriter* writer = nullptr;
  WriteSelection selection;
};

/// What such a recording can be written as instead of stacks, or how to record them.
std::string without_stacks(const Trace& trace, const TraceWriter& writer, bool part,
                           SampledTime time) {
  const std::string format(writer.id);
  if (!trace.stack_samples.empty())
    return "no sampled thread " +
           std::string(time == SampledTime::on_cpu    ? "ran"
                       : time == SampledTime::blocked ? "was blocked"
                                                      : "ran or was blocked") +
           " in what is selected: " + format + " would be empty";
  if (trace.functions.empty() || writer.writes == WritesStacks::samples) {
    std::string text = "the recording holds no sampled stacks, and " + format +
                       " nothing else: record them with fathom run --with samples";
    if (!trace.functions.empty()) text += ", or write its functions with --to prof or folded";
    return text;
  }
  return part ? "functions are written as a whole: leave --steps and --window out, or see the "
                "report functions for a part"
              : "no function took time of its own: " + format + " would be empty";
}

/// Is there a stack with a weight?
bool has_stacks(const Trace& trace, const Prepared& prepared) {
  if (!only_functions_have_stacks(trace))
    return !samples_by_thread(trace, prepared.selection).empty();
  return prepared.writer->writes == WritesStacks::samples_or_functions &&
         !prepared.selection.window &&
         std::ranges::any_of(trace.functions, [](const FunctionTime& function) {
           return function.self > Duration{};
         });
}

/// Has the format a place for such a choice?
Result<void> check_time(const Trace& trace, const TraceWriter& writer) {
  if (writer.writes == WritesStacks::no || writer.writes == WritesStacks::functions)
    return Error{ErrorCode::invalid_argument, "--metric: " + std::string(writer.id) +
                                                  " has no sampled stacks; folded, "
                                                  "speedscope and pprof have"};
  if (only_functions_have_stacks(trace))
    return Error{ErrorCode::invalid_argument,
                 "--metric: the recording holds no sampled stacks; its functions have their own "
                 "time only"};
  return {};
}

/// The rows that the report functions shows of the same selection, or why there are none.
Result<std::vector<FunctionTime>> functions_of(const Context& context, const TraceWriter& writer) {
  const Trace& trace = context.trace;
  const std::string format(writer.id);
  if (context.selection.device)
    return Error{ErrorCode::invalid_argument, "functions belong to no device: leave --device out"};
  if (trace.functions.empty() && trace.function_parts.empty())
    return Error{ErrorCode::invalid_argument,
                 "the recording holds no functions, and " + format +
                     " nothing else: record them with fathom run --with functions"};
  std::vector<FunctionTime> functions;
  ProfileParts parts(context);
  parts.each(trace.functions, trace.function_parts,
             [&functions](const FunctionTime& function) { functions.push_back(function); });
  if (functions.empty())
    return Error{ErrorCode::invalid_argument,
                 trace.function_parts.empty()
                     ? "the recording has its functions of the whole run alone: leave --steps and "
                       "--window out"
                     : "no function was called in what is selected: " + format + " would be empty"};
  return functions;
}

Result<Prepared> prepare(const Session& session, const Request& request, std::string_view to,
                         std::optional<SampledTime> time) {
  Prepared prepared{.writer = find_writer(to), .selection = {}};
  if (prepared.writer == nullptr)
    return Error{ErrorCode::invalid_argument, "--to: '" + std::string(to) + "' is not a format"};
  if (time) {
    if (const Result<void> fits = check_time(session.trace(), *prepared.writer); !fits)
      return fits.error();
    prepared.selection.time = *time;
  }
  Result<Selection> selected = session.select(request);
  if (!selected) return std::move(selected).error();
  prepared.selection.device = (*selected).device;
  const Context context{session.trace(), session.analyses(), *selected, {}};
  if ((*selected).steps || (*selected).window) prepared.selection.window = context.window();
  if (prepared.writer->writes == WritesStacks::functions) {
    Result<std::vector<FunctionTime>> functions = functions_of(context, *prepared.writer);
    if (!functions) return std::move(functions).error();
    prepared.selection.functions = std::move(*functions);
    return prepared;
  }
  if (prepared.writer->writes != WritesStacks::no && !has_stacks(session.trace(), prepared)) {
    return Error{ErrorCode::invalid_argument,
                 without_stacks(session.trace(), *prepared.writer,
                                prepared.selection.window.has_value(), prepared.selection.time)};
  }
  return prepared;
}

}  // namespace

Result<void> check_export(const Session& session, const Request& request, std::string_view to,
                          std::optional<SampledTime> time) {
  const Result<Prepared> prepared = prepare(session, request, to, time);
  if (!prepared) return prepared.error();
  return {};
}

Result<Exported> export_trace(const Session& session, const Request& request, std::string_view to,
                              ByteSink& sink, std::optional<SampledTime> time) {
  const Result<Prepared> prepared = prepare(session, request, to, time);
  if (!prepared) return prepared.error();
  const Result<WriteCounts> written =
      (*prepared).writer->write(session.trace(), (*prepared).selection, sink);
  if (!written) return written.error();
  return Exported{(*written).bytes, (*written).events, (*written).unbound_flows};
}

}  // namespace fathom
