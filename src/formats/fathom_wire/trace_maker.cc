// Turns records of a capture file into rows of a trace, as they come.
#include "formats/fathom_wire/trace_maker.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "store/slice_appender.h"

namespace fathom::own {
namespace {

/// 73 years after the machine's start. Times and durations up to here can be added.
constexpr std::int64_t kLastTime = std::int64_t{1} << 61;

}  // namespace

bool TraceMaker::true_time(std::int64_t time, std::uint64_t offset) {
  if (time >= 0 && time <= kLastTime) return true;
  trace_.import.add(Repair::number_out_of_range, offset, "time");
  return false;
}

void TraceMaker::note_time(std::int64_t time) { last_time_ = std::max(last_time_, time); }

StringId TraceMaker::text(std::string_view text, std::uint64_t offset) {
  if (is_utf8(text)) return trace_.strings.intern(text);
  trace_.import.add(Repair::invalid_utf8, offset, text);
  return trace_.strings.intern(valid_utf8(text));
}

void TraceMaker::add_slice(TrackId track, std::int64_t start, std::int64_t duration, StringId name,
                           std::uint8_t category, std::int64_t value) {
  const SliceId added = SliceAppender(trace_).add({.track = track,
                                                   .start = time_ns(start),
                                                   .duration = duration_ns(duration),
                                                   .name = name,
                                                   .category = category});
  if (value != -1) trace_.numbers.push_back({added, value});
  note_time(start + duration);
}

/// A begin that has its end, with its arguments.
void TraceMaker::add_open(const Open& begun, std::int64_t end) {
  add_slice(begun.track, begun.time, end - begun.time, begun.name, begun.category, -1);
  const auto row = static_cast<std::uint32_t>(trace_.slices.size() - 1);
  for (const Argument& argument : begun.arguments)
    trace_.slice_arguments.push_back({row, argument.key, argument.value});
}

ProcessRun& TraceMaker::run_of(std::int64_t pid) {
  ProcessRun& run = runs_[pid];
  run.pid = pid;
  return run;
}

void TraceMaker::clock(const wire::ClockRecord& record, std::uint64_t offset) {
  if (true_time(record.monotonic, offset) && true_time(record.unix, offset)) clocks_.add(record);
}

void TraceMaker::process(const wire::ProcessRecord& record, std::uint64_t offset) {
  if (!true_time(record.time, offset)) return;
  if (main_pid_ == 0) main_pid_ = record.pid;
  ProcessRun& run = run_of(record.pid);
  if (run.start_ns == kAbsent) run.start_ns = record.time;
  if (record.parent > 0) run.parent = record.parent;
  if (record.rank >= 0) run.rank = record.rank;
  if (!record.name.empty()) run.name = text(record.name, offset);
  if (!record.role.empty()) run.role = text(record.role, offset);
  note_time(record.time);
}

void TraceMaker::thread(const wire::ThreadRecord& record, std::uint64_t offset) {
  thread_names_[{record.pid, record.tid}] = text(record.name, offset);
}

std::int64_t TraceMaker::true_duration(std::int64_t duration, std::uint64_t offset) {
  if (duration < 0) trace_.import.add(Repair::negative_duration, offset);
  if (duration > kLastTime) trace_.import.add(Repair::absurd_duration, offset);
  return duration < 0 || duration > kLastTime ? 0 : duration;
}

void TraceMaker::slice(const wire::SliceRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.start, offset)) return;
  const std::int64_t duration = true_duration(record.duration, offset);
  const StringId name = slice_name(record.category, record.name, record.value, offset);
  add_slice(track_of(record.category, record.pid, record.tid), record.start, duration, name,
            category(record.category, offset), record.value);
  owner_ = Owner::slice;
}

void TraceMaker::begin(const wire::MomentRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.time, offset)) return;
  open_[{record.pid, record.tid}].push_back(
      {record.time, slice_name(record.category, record.name, -1, offset),
       category(record.category, offset), track_of(record.category, record.pid, record.tid)});
  owner_ = Owner::begin;
  owner_thread_ = {record.pid, record.tid};
  note_time(record.time);
}

void TraceMaker::end(const wire::EndRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.time, offset)) return;
  std::vector<Open>& open = open_[{record.pid, record.tid}];
  if (open.empty()) {
    ends_alone_.add(offset);
    return;
  }
  const Open begun = std::move(open.back());
  open.pop_back();
  if (record.time < begun.time) trace_.import.add(Repair::negative_duration, offset);
  add_open(begun, std::max(record.time, begun.time));
}

void TraceMaker::instant(const wire::MomentRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.time, offset)) return;
  trace_.instants.append(
      {.track = track_of({}, record.pid, record.tid),
       .time = time_ns(record.time),
       .name = text(record.name.empty() ? record.category : record.name, offset)});
  owner_ = Owner::instant;
  note_time(record.time);
}

std::uint32_t TraceMaker::counter(const wire::CounterRecord& record, std::uint64_t offset) {
  std::string series(record.name);
  if (record.device >= 0) series += " device " + std::to_string(record.device);
  const TrackId id = track(TrackKind::counter, record.pid, 0, series);
  Track& made = trace_.tracks[id.row()];
  if (!made.name.valid() || made.name == StringId(0)) made.name = text(record.name, offset);
  made.unit = text(record.unit, offset);
  made.device = std::max(record.device, -1);
  return id.value;
}

void TraceMaker::sample(const wire::SampleRecord& record, std::uint64_t offset) {
  if (!true_time(record.time, offset)) return;
  if (!std::isfinite(record.value)) {
    trace_.import.add(Repair::not_a_number, offset);
    return;
  }
  trace_.samples.append(
      {.track = TrackId(record.counter), .time = time_ns(record.time), .value = record.value});
  note_time(record.time);
}

void TraceMaker::fact(const wire::FactRecord& record, std::uint64_t offset) {
  if (!is_utf8(record.value) || !is_utf8(record.key))
    trace_.import.add(Repair::invalid_utf8, offset, record.key);
  facts_[{record.pid, valid_utf8(record.key)}] = valid_utf8(record.value);
}

void TraceMaker::exit(const wire::ExitRecord& record, std::uint64_t offset) {
  if (!true_time(record.time, offset)) return;
  ProcessRun& run = run_of(record.pid);
  run.end_ns = record.time;
  run.status = record.status;
  run.wall_ns = known(record.wall);
  run.user_ns = known(record.user);
  run.system_ns = known(record.system);
  run.peak_bytes = known(record.peak);
  run.read_bytes = known(record.read);
  run.written_bytes = known(record.written);
  note_time(record.time);
}

void TraceMaker::dropped(const wire::DroppedRecord& record, std::uint64_t offset) {
  trace_.import.add(Repair::dropped_records, offset, record.what, record.count);
}

/// Sums over a whole profile must stay numbers, too.
bool TraceMaker::true_profile_time(std::int64_t& sum, std::int64_t total, std::int64_t self) {
  const std::int64_t most = std::max(total, self);
  if (total < 0 || self < 0 || most > kLastTime - sum) return false;
  sum += most;
  return true;
}

void TraceMaker::function(const wire::FunctionRecord& record, std::uint64_t offset) {
  if (!true_profile_time(profile_time_, record.total, record.self)) {
    trace_.import.add(Repair::number_out_of_range, offset, "function");
    return;
  }
  trace_.functions.push_back({record.pid, text(record.file, offset), text(record.name, offset),
                              record.line, record.calls, duration_ns(record.total),
                              duration_ns(record.self)});
}

void TraceMaker::line(const wire::LineRecord& record, std::uint64_t offset) {
  if (!true_profile_time(profile_time_, record.total, record.self)) {
    trace_.import.add(Repair::number_out_of_range, offset, "line");
    return;
  }
  trace_.lines.push_back({record.pid, text(record.file, offset), text(record.function, offset),
                          record.first, record.last, record.function_line, record.hits,
                          duration_ns(record.total), duration_ns(record.self)});
}

void TraceMaker::argument(const wire::ArgumentRecord& record, std::uint64_t offset) {
  if (owner_ == Owner::none) return;  // what it is of was left out
  const Argument argument{0, text(record.key, offset), text(record.value, offset)};
  const auto add = [&argument](std::vector<Argument>& to, std::size_t rows) {
    to.push_back({static_cast<std::uint32_t>(rows - 1), argument.key, argument.value});
  };
  if (owner_ == Owner::slice) add(trace_.slice_arguments, trace_.slices.size());
  if (owner_ == Owner::instant) add(trace_.instant_arguments, trace_.instants.size());
  if (owner_ == Owner::begin) open_[owner_thread_].back().arguments.push_back(argument);
}

}  // namespace fathom::own
