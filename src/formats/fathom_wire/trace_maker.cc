// Records are taken as they come; times are shifted and what belongs to whole processes is added at
// the end.
#include "formats/fathom_wire/trace_maker.h"

#include <algorithm>
#include <cmath>

#include "formats/fathom_wire/texts.h"

namespace fathom::own {
namespace {

/// 73 years after the machine's start. Times and durations up to here can be added.
constexpr std::int64_t kLastTime = std::int64_t{1} << 61;
/// Where the clock was set while it was recorded, its readings differ by more than this.
constexpr std::int64_t kClockStep = 1'000'000;
constexpr std::uint8_t kLastCategory = 255;

struct CategoryRule {
  std::string_view spelling;
  SliceKind kind;
  /// Beside the threads: it does not nest with what the program does.
  bool beside = false;
};
constexpr CategoryRule kCategories[] = {
    {"annotation", SliceKind::user_annotation},
    {"range", SliceKind::user_annotation, true},
    {"frame", SliceKind::user_annotation, true},
    {"step", SliceKind::user_annotation},
    {"loader.fetch", SliceKind::user_annotation},
    {"loader.sample", SliceKind::other},
    {"loader.collate", SliceKind::other},
    {"loader.pin", SliceKind::other},
    {"gc", SliceKind::other},
    {"profile", SliceKind::trace_span, true},
    {"phase", SliceKind::trace_span, true},
    {"kernel", SliceKind::kernel},
    {"gpu_memcpy", SliceKind::memcpy},
    {"gpu_memset", SliceKind::memset},
    {"cuda_graph", SliceKind::kernel},
    {"cuda_sync", SliceKind::sync},
    {"cuda_runtime", SliceKind::runtime},
    {"cuda_driver", SliceKind::driver},
    {"overhead", SliceKind::overhead},
    {"overhead.device", SliceKind::overhead, true},
    {"host_function", SliceKind::other},
};

const CategoryRule* rule_of(std::string_view spelling) {
  const auto* const at = std::ranges::find(kCategories, spelling, &CategoryRule::spelling);
  return at == std::end(kCategories) ? nullptr : at;
}

std::int64_t known(std::int64_t value) { return value < 0 ? kAbsent : value; }

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
  return trace_.strings.intern(mended_utf8(text));
}

/// Steps and fetches are named as torch names them, so that they are told by the same rules.
StringId TraceMaker::slice_name(std::string_view category, std::string_view name,
                                std::int64_t value, std::uint64_t offset) {
  if (category == "step" && value >= 0)
    return text("ProfilerStep#" + std::to_string(value), offset);
  if (category == "loader.fetch" && !name.starts_with("enumerate("))
    return text("enumerate(DataLoader)#" + std::string(name), offset);
  return text(name.empty() ? category : name, offset);
}

std::uint8_t TraceMaker::category(std::string_view spelling, std::uint64_t offset) {
  const auto known = categories_.find(std::string(spelling));
  if (known != categories_.end()) return known->second;
  const CategoryRule* const rule = rule_of(spelling);
  if (rule == nullptr) trace_.import.add_unknown("category " + mended_utf8(spelling));
  if (trace_.categories.size() > kLastCategory) return kLastCategory;
  const auto row = static_cast<std::uint8_t>(trace_.categories.size());
  trace_.categories.push_back(
      {text(spelling, offset), rule == nullptr ? SliceKind::other : rule->kind, 0});
  categories_.emplace(spelling, row);
  return row;
}

TrackId TraceMaker::track(TrackKind kind, std::int64_t pid, std::int64_t tid,
                          std::string_view series) {
  const std::string thread =
      kind == TrackKind::host_thread ? std::to_string(tid) : mended_utf8(series);
  const auto [at, added] = tracks_.try_emplace({kind, {pid, thread}}, trace_.tracks.size());
  if (!added) return at->second;
  Track made;
  made.kind = kind;
  made.process = trace_.strings.intern(pid == 0 ? "machine" : std::to_string(pid));
  made.thread = trace_.strings.intern(thread);
  made.pid = pid == 0 ? kAbsent : pid;
  made.tid = kind == TrackKind::host_thread ? tid : kAbsent;
  made.name = StringId(0);
  trace_.tracks.push_back(made);
  return at->second;
}

TrackId TraceMaker::track_of(std::string_view category, std::int64_t pid, std::int64_t tid) {
  const CategoryRule* const rule = rule_of(category);
  if (rule != nullptr && rule->beside) {
    const std::string series =
        std::string(category) + (tid == pid ? "" : " " + std::to_string(tid));
    return track(TrackKind::async, pid, 0, series);
  }
  if (last_track_.valid() && last_thread_ == Thread(pid, tid)) return last_track_;
  last_thread_ = {pid, tid};
  const auto at = threads_.find(last_thread_);
  last_track_ = at != threads_.end() ? at->second : track(TrackKind::host_thread, pid, tid, {});
  threads_[last_thread_] = last_track_;
  return last_track_;
}

void TraceMaker::add_slice(TrackId track, std::int64_t start, std::int64_t duration, StringId name,
                           std::uint8_t category, std::int64_t value) {
  Slices& slices = trace_.slices;
  if (value != -1) trace_.numbers.push_back({SliceId(slices.size()), value});
  slices.track.push_back(track);
  slices.start.push_back(time_ns(start));
  slices.duration.push_back(duration_ns(duration));
  slices.name.push_back(name);
  slices.category.push_back(category);
  slices.correlation.push_back(kAbsent);
  slices.external_id.push_back(kAbsent);
  slices.detail.push_back(SliceId::kNone);
  ++trace_.tracks[track.row()].slices;
  ++trace_.categories[category].slices;
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
  if (true_time(record.monotonic, offset) && true_time(record.unix, offset))
    clocks_.push_back(record);
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

void TraceMaker::end(const wire::MomentRecord& record, std::uint64_t offset) {
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
  trace_.instants.track.push_back(track_of({}, record.pid, record.tid));
  trace_.instants.time.push_back(time_ns(record.time));
  trace_.instants.name.push_back(text(record.name.empty() ? record.category : record.name, offset));
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
  trace_.samples.track.push_back(TrackId(record.counter));
  trace_.samples.time.push_back(time_ns(record.time));
  trace_.samples.value.push_back(record.value);
  note_time(record.time);
}

void TraceMaker::fact(const wire::FactRecord& record, std::uint64_t offset) {
  if (!is_utf8(record.value) || !is_utf8(record.key))
    trace_.import.add(Repair::invalid_utf8, offset, record.key);
  facts_[{record.pid, mended_utf8(record.key)}] = mended_utf8(record.value);
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

void TraceMaker::function(const wire::FunctionRecord& record, std::uint64_t offset) {
  if (record.total < 0 || record.total > kLastTime || record.self < 0 || record.self > kLastTime) {
    trace_.import.add(Repair::number_out_of_range, offset, "function");
    return;
  }
  trace_.functions.push_back({record.pid, text(record.file, offset), text(record.name, offset),
                              record.line, record.calls, duration_ns(record.total),
                              duration_ns(record.self)});
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

/// Scopes that were open when the program ended, or was killed, end with the file.
void TraceMaker::close_open() {
  for (const auto& [thread, open] : open_) {
    for (const Open& begun : open) add_open(begun, last_time_);
  }
}

/// The clock of the trace is Unix time as the median reading says; CLOCK_MONOTONIC runs as fast as
/// it. Where somebody set the clock meanwhile, that is said.
void TraceMaker::place_in_time() {
  std::int64_t first = last_time_;
  for (const Column<Time>* times :
       {&trace_.slices.start, &trace_.samples.time, &trace_.instants.time, &trace_.memory.time}) {
    for (const Time time : *times) first = std::min(first, to_ns(time));
  }
  for (auto& [pid, run] : runs_) {
    for (const std::int64_t time : {run.start_ns, run.end_ns})
      first = time == kAbsent ? first : std::min(first, time);
  }
  for (Column<Time>* times :
       {&trace_.slices.start, &trace_.samples.time, &trace_.instants.time, &trace_.memory.time}) {
    for (Time& time : *times) time -= duration_ns(first);
  }
  for (auto& [pid, run] : runs_) {
    if (run.start_ns != kAbsent) run.start_ns -= first;
    if (run.end_ns != kAbsent) run.end_ns -= first;
  }
  trace_.origin_ns = first;
  if (clocks_.empty()) return;
  std::vector<std::int64_t> offsets;
  offsets.reserve(clocks_.size());
  for (const wire::ClockRecord& clock : clocks_) offsets.push_back(clock.unix - clock.monotonic);
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
  std::ranges::nth_element(offsets, middle);
  trace_.origin_ns = first + *middle;
  trace_.origin_is_unix = *middle > 0;
  const auto [low, high] = std::ranges::minmax(offsets);
  if (high - low > kClockStep) facts_[{0, "clock_was_set_by_ns"}] = std::to_string(high - low);
  facts_[{0, "clock_error_ns"}] = std::to_string(clock_error(*middle));
}

/// How far Unix time may be off by the readings: each one's own error and its distance from the
/// median, but for readings after the clock was set.
std::int64_t TraceMaker::clock_error(std::int64_t median) const {
  std::int64_t error = 0;
  for (const wire::ClockRecord& clock : clocks_) {
    const std::int64_t apart = std::abs(clock.unix - clock.monotonic - median);
    if (apart <= kClockStep) error = std::max(error, apart + std::int64_t{clock.error});
  }
  return error;
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
  add(Repair::wrong_type, damage.texts, "a text or counter that is not defined");
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

/// Of a program without slices, the time of its processes; of samples alone, theirs.
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
