// Lines: their timeline, stretches beside the threads that are named after their statement; and
// what they and functions took in parts of the run.
#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "formats/fathom_wire/trace_maker.h"

namespace fathom::own {
namespace {

constexpr std::string_view kLine = "line";

}  // namespace

/// A thread has a track of its own for them, for they do not nest with what it does.
TrackId TraceMaker::line_track(std::int64_t pid, std::int64_t tid) {
  const auto [at, added] = line_tracks_.try_emplace({pid, tid});
  if (added) {
    const std::string series = std::string(kLine) + (tid == pid ? "" : " " + std::to_string(tid));
    at->second = track(TrackKind::async, pid, 0, series);
    trace_.tracks[at->second.row()].tid = tid;
  }
  return at->second;
}

void TraceMaker::line_run(const wire::LineRunRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.start, offset)) return;
  std::string name(record.file);
  name += ':' + std::to_string(record.first) + ' ';
  name += record.function;
  add_slice(line_track(record.pid, record.tid), record.start,
            true_duration(record.duration, offset), text(name, offset), category(kLine, offset),
            -1);
}

void TraceMaker::function_part(const wire::FunctionPartRecord& record, std::uint64_t offset) {
  if (!true_time(record.start, offset)) return;
  if (!true_profile_time(part_time_, record.total, record.self)) {
    trace_.import.add(Repair::number_out_of_range, offset, "part of a function");
    return;
  }
  const std::int64_t end = record.start + true_duration(record.duration, offset);
  trace_.function_parts.push_back(
      {.time = {record.pid, text(record.file, offset), text(record.name, offset), record.line,
                record.calls, duration_ns(record.total), duration_ns(record.self)},
       .when = {time_ns(record.start), time_ns(end)},
       .step = known(record.step)});
}

void TraceMaker::function_calls(const wire::FunctionCallsRecord& record, std::uint64_t offset) {
  if (!true_profile_time(caller_time_, record.total, record.self)) {
    trace_.import.add(Repair::number_out_of_range, offset, "calls of a function");
    return;
  }
  const FunctionCalls calls{.pid = record.pid,
                            .file = text(record.file, offset),
                            .name = text(record.name, offset),
                            .line = record.line,
                            .caller_file = text(record.caller_file, offset),
                            .caller_name = text(record.caller_name, offset),
                            .caller_line = record.caller_line,
                            .calls = record.calls,
                            .primitive = std::min(record.primitive, record.calls),
                            .total = duration_ns(record.total),
                            .self = duration_ns(record.self)};
  if (!record.caller_name.empty()) {
    trace_.function_calls.push_back(calls);
    return;
  }
  // Where the function's own record was lost, there is nothing to say more of.
  if (trace_.functions.empty()) return;
  FunctionTime& last = trace_.functions.back();
  if (last.pid == calls.pid && last.file == calls.file && last.line == calls.line &&
      last.name == calls.name)
    last.primitive = calls.primitive;
}

void TraceMaker::line_part(const wire::LinePartRecord& record, std::uint64_t offset) {
  if (!true_time(record.start, offset)) return;
  if (!true_profile_time(part_time_, record.total, record.self)) {
    trace_.import.add(Repair::number_out_of_range, offset, "part of a line");
    return;
  }
  const std::int64_t end = record.start + true_duration(record.duration, offset);
  trace_.line_parts.push_back(
      {.time = {record.pid, text(record.file, offset), text(record.function, offset), record.first,
                record.last, record.function_line, record.hits, duration_ns(record.total),
                duration_ns(record.self)},
       .when = {time_ns(record.start), time_ns(end)},
       .step = known(record.step)});
}

}  // namespace fathom::own
