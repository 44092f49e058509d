// Finishes a trace of capture records: its place in time, its processes, its damage.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "formats/fathom_wire/json_value.h"
#include "formats/fathom_wire/trace_maker.h"

namespace fathom::own {

/// Scopes that were open when the program ended, or was killed, end with the file.
void TraceMaker::close_open() {
  for (const auto& [thread, open] : open_) {
    for (const Open& begun : open) add_open(begun, last_time_);
  }
}

/// Times count from the first of them, which is Unix time as the median reading says;
/// CLOCK_MONOTONIC runs as fast as it. Where the clock was set meanwhile, a fact reports it.
void TraceMaker::place_in_time() {
  std::int64_t first = last_time_;
  for (const Column<Time>* times :
       {&trace_.slices.start, &trace_.samples.time, &trace_.instants.time, &trace_.memory.time}) {
    for (const Time time : *times) first = std::min(first, to_ns(time));
  }
  for (const StackSample& sample : trace_.stack_samples)
    first = std::min(first, to_ns(sample.time));
  for (auto& [pid, run] : runs_) {
    for (const std::int64_t time : {run.start_ns, run.end_ns})
      first = time == kAbsent ? first : std::min(first, time);
  }
  for (Column<Time>* times :
       {&trace_.slices.start, &trace_.samples.time, &trace_.instants.time, &trace_.memory.time}) {
    for (Time& time : *times) time -= duration_ns(first);
  }
  for (StackSample& sample : trace_.stack_samples) sample.time -= duration_ns(first);
  const auto place = [first](auto& parts) {
    for (auto& part : parts) {
      part.when.begin -= duration_ns(first);
      part.when.end -= duration_ns(first);
    }
  };
  place(trace_.function_parts);
  place(trace_.line_parts);
  for (auto& [pid, run] : runs_) {
    if (run.start_ns != kAbsent) run.start_ns -= first;
    if (run.end_ns != kAbsent) run.end_ns -= first;
  }
  trace_.origin_ns = first;
  const std::optional<UnixTime> unix = clocks_.unix_time();
  if (!unix) return;
  trace_.origin_ns = first + unix->offset_ns;
  trace_.origin_is_unix = unix->offset_ns > 0;
  if (unix->set_by_ns > 0) facts_[{0, "clock_was_set_by_ns"}] = std::to_string(unix->set_by_ns);
  facts_[{0, "clock_error_ns"}] = std::to_string(unix->error_ns);
}

void TraceMaker::add_facts(const wire::Damage& damage) {
  for (auto& [of, value] : facts_) {
    const auto& [pid, key] = of;
    const bool own = pid == 0 || pid == main_pid_;
    trace_.facts.push_back(
        {own ? key : "process " + std::to_string(pid) + " " + key, json_value(value)});
  }
  if (damage.first_number > 0) {
    trace_.facts.push_back({"blocks_before_the_first", std::to_string(damage.first_number)});
  }
}

void TraceMaker::add_damage(const wire::Damage& damage) {
  ImportLog& log = trace_.import;
  const auto add = [&log](Repair repair, const wire::Found& found, std::string_view example = {}) {
    log.add(repair, found.first, example, found.count);
  };
  add(Repair::truncated, damage.cut_off);
  add(Repair::damaged_block, damage.skipped,
      std::to_string(damage.skipped_bytes) + " bytes in all");
  add(Repair::missing_block, damage.missing);
  // Where earlier blocks were dropped, their begins were too.
  if (damage.first_number == 0 && damage.missing.count == 0)
    add(Repair::unmatched_end, ends_alone_);
  add(Repair::malformed_event, damage.malformed);
  add(Repair::wrong_type, damage.texts, "a text, counter or frame that is not defined");
  for (const auto& [kind, found] : damage.unknown_kinds)
    log.add_unknown("record kind " + std::to_string(kind), found.count);
  for (const auto& [type, found] : damage.unknown_blocks)
    log.add_unknown("block type " + std::to_string(type), found.count);
}

void TraceMaker::add_processes() {
  for (const auto& [thread, name] : thread_names_) {
    const auto at = threads_.find(thread);
    if (at != threads_.end()) trace_.tracks[at->second.row()].name = name;
  }
  std::map<std::int64_t, StringId> names;
  for (const Track& track : trace_.tracks) {
    if (track.kind != TrackKind::device_stream)
      names[track.pid == kAbsent ? 0 : track.pid] = track.process;
  }
  for (const auto& [pid, run] : runs_) {
    trace_.process_runs.push_back(run);
    names[pid] = trace_.strings.intern(std::to_string(pid));
  }
  for (const auto& [pid, id] : names) {
    const auto run = runs_.find(pid);
    const bool named = run != runs_.end() && run->second.name.valid();
    const bool has_role = run != runs_.end() && run->second.role.valid();
    trace_.processes.push_back({id, named ? run->second.name : StringId(0),
                                has_role ? run->second.role : StringId(0), kAbsent});
  }
}

/// Of a program without slices, the time of its processes, and of the samples of their threads
/// where these have no end: they were attached to, or the launcher was ended. Of samples alone,
/// theirs.
void TraceMaker::set_span() {
  Interval span{Time::max(), Time::min()};
  const auto widen = [&span](Time begin, Time end) {
    span.begin = std::min(span.begin, begin);
    span.end = std::max(span.end, end);
  };
  for (std::size_t row = 0; row < trace_.slices.size(); ++row)
    widen(trace_.slices.start[row], trace_.slices.end(SliceId(row)));
  if (span.begin > span.end) {
    for (const ProcessRun& run : trace_.process_runs) {
      for (const std::int64_t time : {run.start_ns, run.end_ns}) {
        if (time != kAbsent) widen(time_ns(time), time_ns(time));
      }
    }
  }
  if (span.begin >= span.end) {
    for (const StackSample& sample : trace_.stack_samples) widen(sample.time, sample.time);
  }
  if (span.begin > span.end) {
    for (const Column<Time>* times : {&trace_.samples.time, &trace_.instants.time}) {
      for (const Time time : *times) widen(time, time);
    }
  }
  trace_.span = span.begin <= span.end ? span : Interval{};
}

/// A file of one rank says which it is; the launcher's, of several, does not.
void TraceMaker::find_rank() {
  Distributed info;
  for (const auto& [pid, run] : runs_) {
    if (run.rank < 0) continue;
    if (info.rank != kAbsent && info.rank != run.rank) return;
    info.rank = run.rank;
  }
  if (info.rank != kAbsent) trace_.distributed = info;
}

Trace TraceMaker::finish(const wire::Damage& damage) {
  close_open();
  leave_out_recorder();
  place_in_time();
  add_devices();
  add_processes();
  name_devices();
  find_rank();
  set_span();
  add_facts(damage);
  add_damage(damage);
  return std::move(trace_);
}

}  // namespace fathom::own
