// Appends one recording to another: rows with their texts, tracks and categories.
#include "store/merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "store/merged_details.h"
#include "store/profiler_step.h"
#include "store/slice_appender.h"

namespace fathom {
namespace {

constexpr std::string_view kFetch = "enumerate(DataLoader)#";

class Merger {
 public:
  Merger(Trace& base, const Trace& other, const MergeOptions& options)
      : base_(base), other_(other), options_(options), details_(base, other) {}

  MergeCounts run();

 private:
  using TrackKey = std::tuple<TrackKind, std::string, std::string>;

  [[nodiscard]] bool find_shift();
  void know_base();
  void keep_time(SliceId id, std::int64_t number);
  void slices();
  void instants();
  void arguments(const std::vector<Argument>& theirs, std::vector<Argument>& ours,
                 std::uint32_t row, std::size_t as);
  void samples();
  void runs();
  void functions();
  void source_lines();
  void stacks();
  void facts();
  void processes();

  StringId text(StringId id);
  /// Of the other's track: the base's, added when new.
  TrackId track(TrackId id);
  TrackId beside(TrackId id);
  TrackId stream(TrackId id);
  TrackId place_of(SliceId id);
  TrackId find_or_add(const Track& wanted);
  void compare();
  void memory();
  void devices();
  [[nodiscard]] bool known_work(std::size_t row);
  [[nodiscard]] std::int64_t correlation(std::int64_t id) const;
  std::uint8_t category(std::uint8_t row);
  [[nodiscard]] bool known_to_base(SliceId id) const;
  [[nodiscard]] bool fills_gap(SliceId id) const;
  void add_slice(SliceId id, TrackId track, std::int64_t number);
  void widen(Time begin, Time end);
  [[nodiscard]] Time shifted(Time time) const { return time + shift_; }
  [[nodiscard]] static TrackKey key_of(const Trace& trace, const Track& track) {
    return {track.kind, std::string(trace.text(track.process)),
            std::string(trace.text(track.thread))};
  }

  Trace& base_;
  const Trace& other_;
  const MergeOptions& options_;
  Duration shift_{};
  MergeCounts counts_;
  std::vector<StringId> texts_;
  std::vector<TrackId> tracks_;
  std::vector<TrackId> beside_;
  std::vector<int> categories_;
  std::map<TrackKey, TrackId> by_key_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> by_thread_;
  std::size_t next_argument_ = 0;  // of the table that is being copied
  std::size_t own_tracks_ = 0;     // the base's, before
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> by_stream_;  // by device and stream
  SameWork same_;
  MergedDetails details_;
  std::vector<Argument> late_arguments_;  // of the base's own slices
  bool base_waits_ = false;
  bool has_steps_ = false;
  bool has_fetches_ = false;
};

/// Files of samples have nothing that anyone else could have seen.
void Merger::compare() {
  const bool may = std::ranges::any_of(other_.categories, [](const Category& category) {
    return category.slices > 0 &&
           (is_device_activity(category.kind) || category.kind == SliceKind::sync ||
            is_runtime_call(category.kind) || category.kind == SliceKind::user_annotation);
  });
  if (!may) return;
  same_ = find_same_work(base_, other_, shift_, options_.clock_error_ns);
  counts_.activities_known = same_.activities;
  counts_.calls_known = same_.calls;
  counts_.ranges_known = same_.ranges;
  counts_.activities_doubtful = same_.doubtful_activities;
  counts_.distance = same_.distance;
  counts_.beyond_error = same_.beyond_error;
}

/// Allocations are taken from one recorder: torch's allocator or CUDA's, which it stands on.
void Merger::memory() {
  const MemoryEvents& theirs = other_.memory;
  if (base_.memory.size() > 0) {
    counts_.not_taken += theirs.size();
    return;
  }
  for (std::size_t row = 0; row < theirs.size(); ++row) {
    MemoryEvents::Row event = theirs.row(row);
    event.time = shifted(event.time);
    if (options_.within_span && (event.time < base_.span.begin || event.time >= base_.span.end)) {
      ++counts_.instants_outside;
      continue;
    }
    event.track = track(event.track);
    base_.memory.append(event);
  }
}

void Merger::devices() {
  for (const Device& device : other_.devices) {
    if (base_.device(device.id) == nullptr) base_.devices.push_back(device);
  }
}

bool Merger::find_shift() {
  if (!base_.origin_is_unix || !other_.origin_is_unix) return false;
  std::int64_t shift = 0;
  if (__builtin_sub_overflow(other_.origin_ns, base_.origin_ns, &shift)) return false;
  // So far apart that sums might overflow, they are no recordings of one run.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 61;
  shift_ = duration_ns(shift);
  return shift > -kFarthest && shift < kFarthest;
}

void Merger::know_base() {
  own_tracks_ = base_.tracks.size();
  for (std::size_t row = 0; row < own_tracks_; ++row) {
    const Track& track = base_.tracks[row];
    by_key_.emplace(key_of(base_, track), TrackId(row));
    if (track.kind == TrackKind::host_thread)
      by_thread_.emplace(std::pair(track.pid, track.tid), TrackId(row));
    if (track.kind == TrackKind::device_stream && !is_gpu_of_process(base_.text(track.process)))
      by_stream_.emplace(std::pair(std::int64_t{track.device}, track.stream), TrackId(row));
  }
  for (const Category& category : base_.categories)
    base_waits_ = base_waits_ || (category.kind == SliceKind::sync && category.slices > 0);
  for (std::size_t row = 0; row < base_.slices.size() && !(has_steps_ && has_fetches_); ++row) {
    const SliceId id(row);
    if (base_.kind(id) != SliceKind::user_annotation && base_.kind(id) != SliceKind::cpu_op)
      continue;
    const std::string_view name = base_.name(id);
    has_steps_ = has_steps_ || is_profiler_step(name);
    has_fetches_ = has_fetches_ || name.starts_with(kFetch);
  }
}

StringId Merger::text(StringId id) {
  if (!id.valid()) return id;
  StringId& mine = texts_[id.row()];
  if (!mine.valid()) mine = base_.strings.intern(other_.text(id));
  return mine;
}

TrackId Merger::find_or_add(const Track& wanted) {
  const auto [at, added] = by_key_.try_emplace(key_of(base_, wanted), base_.tracks.size());
  if (!added) return at->second;
  base_.tracks.push_back(wanted);
  base_.tracks.back().slices = 0;
  return at->second;
}

TrackId Merger::track(TrackId id) {
  TrackId& mine = tracks_[id.row()];
  if (mine.valid()) return mine;
  const Track& theirs = other_.tracks[id.row()];
  const auto same = by_thread_.find({theirs.pid, theirs.tid});
  if (theirs.kind == TrackKind::host_thread && same != by_thread_.end()) return mine = same->second;
  Track wanted = theirs;
  wanted.process = text(theirs.process);
  wanted.thread = text(theirs.thread);
  wanted.name = text(theirs.name);
  wanted.unit = text(theirs.unit);
  mine = find_or_add(wanted);
  return mine;
}

std::int64_t Merger::correlation(std::int64_t id) const {
  if (id == kAbsent || same_.same_ids) return id;
  const auto at = same_.correlations.find(id);
  return at == same_.correlations.end() ? id : at->second;
}

/// A stream of a device that the base knows is the base's; a stream of another process is its own.
TrackId Merger::stream(TrackId id) {
  TrackId& mine = tracks_[id.row()];
  if (mine.valid()) return mine;
  const Track& theirs = other_.tracks[id.row()];
  const std::string own = gpu_of_process(theirs.device, same_.other_pid);
  const auto named =
      by_key_.find({TrackKind::device_stream, own, std::string(other_.text(theirs.thread))});
  if (named != by_key_.end()) return mine = named->second;
  const auto same = by_stream_.find({theirs.device, theirs.stream});
  if (same != by_stream_.end() && same_.same_process) return mine = same->second;
  Track wanted = theirs;
  wanted.process = text(theirs.process);
  wanted.thread = text(theirs.thread);
  wanted.name = text(theirs.name);
  if (!same_.same_process && same_.other_pid != kAbsent) {
    wanted.process = base_.strings.intern(own);
  }
  mine = find_or_add(wanted);
  return mine;
}

TrackId Merger::beside(TrackId id) {
  TrackId& mine = beside_[id.row()];
  if (mine.valid()) return mine;
  const TrackId thread = track(id);
  if (base_.tracks[thread.row()].kind != TrackKind::host_thread || thread.row() >= own_tracks_ ||
      !options_.within_span)
    return mine = thread;
  Track wanted = base_.tracks[thread.row()];
  wanted.kind = TrackKind::async;
  wanted.thread = base_.strings.intern("fathom " + std::string(base_.text(wanted.thread)));
  wanted.tid = kAbsent;
  mine = find_or_add(wanted);
  return mine;
}

std::uint8_t Merger::category(std::uint8_t row) {
  if (categories_[row] >= 0) return static_cast<std::uint8_t>(categories_[row]);
  const Category& theirs = other_.categories[row];
  const StringId name = text(theirs.name);
  auto at = std::ranges::find_if(base_.categories, [&](const Category& mine) {
    return mine.name == name && mine.kind == theirs.kind;
  });
  if (at == base_.categories.end() && base_.categories.size() < 256)
    at = base_.categories.insert(at, {name, theirs.kind, 0});
  // A table that is full has one for whatever is left; its kind stays true only for the last.
  if (at == base_.categories.end()) --at;
  categories_[row] = static_cast<int>(at - base_.categories.begin());
  return static_cast<std::uint8_t>(categories_[row]);
}

/// Torch records steps itself; ours, of the same moments, would be counted twice.
bool Merger::known_to_base(SliceId id) const {
  return options_.within_span && has_steps_ && is_profiler_step(other_.name(id));
}

/// Steps and fetches of a base that has none decide what its time went into.
bool Merger::fills_gap(SliceId id) const {
  const std::string_view name = other_.name(id);
  return is_profiler_step(name) || (!has_fetches_ && name.starts_with(kFetch));
}

void Merger::widen(Time begin, Time end) {
  base_.span.begin = std::min(base_.span.begin, begin);
  base_.span.end = std::max(base_.span.end, end);
}

void Merger::add_slice(SliceId id, TrackId track, std::int64_t number) {
  Slices::Row slice = other_.slices.row(id.row());
  slice.track = track;
  slice.start = shifted(slice.start);
  slice.name = text(slice.name);
  slice.category = category(slice.category);
  slice.correlation = correlation(slice.correlation);
  slice.external_id = kAbsent;
  slice.detail = details_.copy(other_.kind(id), slice.detail);
  const SliceId added = SliceAppender(base_).add(slice);
  if (number != kAbsent) base_.numbers.push_back({added, number});
  counts_.activities += is_device_activity(other_.kind(id)) ? 1 : 0;
  ++counts_.slices;
}

/// Rows of the other are taken in their order, and so are their arguments.
void Merger::arguments(const std::vector<Argument>& theirs, std::vector<Argument>& ours,
                       std::uint32_t row, std::size_t as) {
  std::size_t& next = next_argument_;
  while (next < theirs.size() && theirs[next].row < row) ++next;
  for (; next < theirs.size() && theirs[next].row == row; ++next) {
    ours.push_back(
        {static_cast<std::uint32_t>(as), text(theirs[next].key), text(theirs[next].value)});
  }
}

TrackId Merger::place_of(SliceId id) {
  const TrackId theirs = other_.slices.track[id.row()];
  const SliceKind kind = other_.kind(id);
  if (other_.tracks[theirs.row()].kind == TrackKind::device_stream) return stream(theirs);
  const bool call = is_runtime_call(kind);
  return call || fills_gap(id) ? track(theirs) : beside(theirs);
}

/// True for what the base has already, or what cannot be separated from what it has; it is counted.
bool Merger::known_work(std::size_t row) {
  if (same_.twin.empty()) return false;
  const SliceId id(row);
  if (other_.kind(id) == SliceKind::sync && base_waits_) {
    ++counts_.not_taken;
    return true;
  }
  if (same_.twin[row] == SameWork::kNew) return same_.doubtful[row];
  // The arguments of a range are in one of the recorders only.
  arguments(other_.slice_arguments, late_arguments_, static_cast<std::uint32_t>(row),
            same_.twin[row]);
  return true;
}

/// Of what lies outside of the base's span, these are of use by themselves.
void Merger::keep_time(SliceId id, std::int64_t number) {
  const StringId name = other_.categories[other_.slices.category[id.row()]].name;
  const std::string_view category = other_.text(name);
  if (category != "step" && category != "phase" && !category.starts_with("loader.")) return;
  base_.timed.push_back({.pid = other_.track(id).pid,
                         .start = shifted(other_.slices.start[id.row()]),
                         .duration = other_.slices.duration[id.row()],
                         .name = text(other_.slices.name[id.row()]),
                         .category = text(name),
                         .number = number});
}

void Merger::slices() {
  next_argument_ = 0;
  const Interval span = base_.span;
  auto number = other_.numbers.begin();
  for (std::size_t row = 0; row < other_.slices.size(); ++row) {
    const SliceId id(row);
    while (number != other_.numbers.end() && number->slice < id) ++number;
    const bool numbered = number != other_.numbers.end() && number->slice == id;
    const Time start = shifted(other_.slices.start[row]);
    const Time end = start + other_.slices.duration[row];
    if (options_.within_span && is_profiler_step(other_.name(id)))
      counts_.steps.push_back({numbered ? number->number : -1, to_ns(start), to_ns(end)});
    if (options_.within_span && (start < span.begin || end > span.end))
      keep_time(id, numbered ? number->number : kAbsent);
    if (options_.within_span && (start >= span.end || end <= span.begin)) {
      ++counts_.slices_outside;
      continue;
    }
    if (known_to_base(id)) {
      ++counts_.slices_known;
      continue;
    }
    if (known_work(row)) continue;
    add_slice(id, place_of(id), numbered ? number->number : kAbsent);
    arguments(other_.slice_arguments, base_.slice_arguments, static_cast<std::uint32_t>(row),
              base_.slices.size() - 1);
    if (!options_.within_span) widen(start, end);
  }
  if (late_arguments_.empty()) return;
  std::vector<Argument>& all = base_.slice_arguments;
  all.insert(all.end(), late_arguments_.begin(), late_arguments_.end());
  std::ranges::stable_sort(all, {}, &Argument::row);
}

void Merger::instants() {
  next_argument_ = 0;
  for (std::size_t row = 0; row < other_.instants.size(); ++row) {
    const Time time = shifted(other_.instants.time[row]);
    if (options_.within_span && (time < base_.span.begin || time >= base_.span.end)) {
      ++counts_.instants_outside;
      continue;
    }
    base_.instants.append({.track = track(other_.instants.track[row]),
                           .time = time,
                           .name = text(other_.instants.name[row])});
    arguments(other_.instant_arguments, base_.instant_arguments, static_cast<std::uint32_t>(row),
              base_.instants.size() - 1);
    ++counts_.instants;
  }
}

void Merger::samples() {
  for (std::size_t row = 0; row < other_.samples.size(); ++row) {
    base_.samples.append({.track = track(other_.samples.track[row]),
                          .time = shifted(other_.samples.time[row]),
                          .value = other_.samples.value[row]});
    ++counts_.samples;
  }
}

void fill(std::int64_t& mine, std::int64_t theirs) {
  if (mine == kAbsent) mine = theirs;
}

/// What one recording does not know of a process, the other may.
void Merger::runs() {
  const std::size_t known = base_.process_runs.size();
  for (ProcessRun theirs : other_.process_runs) {
    theirs.role = text(theirs.role);
    theirs.name = text(theirs.name);
    for (std::int64_t* const time : {&theirs.start_ns, &theirs.end_ns}) {
      if (*time == kAbsent) continue;
      *time = counts_.no_common_clock ? kAbsent : *time + to_ns(shift_);
    }
    const auto end = base_.process_runs.begin() + static_cast<std::ptrdiff_t>(known);
    const auto at =
        std::ranges::lower_bound(base_.process_runs.begin(), end, theirs.pid, {}, &ProcessRun::pid);
    if (at == end || at->pid != theirs.pid) {
      base_.process_runs.push_back(theirs);
      continue;
    }
    if (at->rank < 0) at->rank = theirs.rank;
    if (at->status == -1) at->status = theirs.status;
    if (!at->role.valid()) at->role = theirs.role;
    if (!at->name.valid()) at->name = theirs.name;
    fill(at->parent, theirs.parent);
    // Who records from inside a process begins after its start, and stops before its end.
    if (theirs.start_ns != kAbsent)
      at->start_ns =
          at->start_ns == kAbsent ? theirs.start_ns : std::min(at->start_ns, theirs.start_ns);
    at->end_ns = std::max(at->end_ns, theirs.end_ns);
    at->wall_ns = std::max(at->wall_ns, theirs.wall_ns);
    fill(at->user_ns, theirs.user_ns);
    fill(at->system_ns, theirs.system_ns);
    fill(at->peak_bytes, theirs.peak_bytes);
    fill(at->read_bytes, theirs.read_bytes);
    fill(at->written_bytes, theirs.written_bytes);
  }
  // Both are by pid: what is new is put into its place at once.
  std::ranges::inplace_merge(base_.process_runs,
                             base_.process_runs.begin() + static_cast<std::ptrdiff_t>(known), {},
                             &ProcessRun::pid);
}

void Merger::functions() {
  for (FunctionTime function : other_.functions) {
    function.file = text(function.file);
    function.name = text(function.name);
    base_.functions.push_back(function);
  }
  for (FunctionCalls calls : other_.function_calls) {
    for (StringId* const word : {&calls.file, &calls.name, &calls.caller_file, &calls.caller_name})
      *word = text(*word);
    base_.function_calls.push_back(calls);
  }
  for (FunctionPart part : other_.function_parts) {
    part.time.file = text(part.time.file);
    part.time.name = text(part.time.name);
    part.when = {shifted(part.when.begin), shifted(part.when.end)};
    base_.function_parts.push_back(part);
  }
}

void Merger::source_lines() {
  for (LineTime line : other_.lines) {
    line.file = text(line.file);
    line.function = text(line.function);
    base_.lines.push_back(line);
  }
  for (LinePart part : other_.line_parts) {
    part.time.file = text(part.time.file);
    part.time.function = text(part.time.function);
    part.when = {shifted(part.when.begin), shifted(part.when.end)};
    base_.line_parts.push_back(part);
  }
  for (SourceText source : other_.sources) {
    source.file = text(source.file);
    if (std::ranges::find(base_.sources, source.file, &SourceText::file) != base_.sources.end())
      continue;
    source.text = text(source.text);
    base_.sources.push_back(source);
  }
}

void Merger::stacks() {
  const auto first = static_cast<std::uint32_t>(base_.stack_frames.size());
  const auto moved = [first](std::uint32_t frame) {
    return frame == kNoFrame ? kNoFrame : frame + first;
  };
  for (StackFrame frame : other_.stack_frames) {
    frame.parent = moved(frame.parent);
    frame.function = text(frame.function);
    frame.file = text(frame.file);
    base_.stack_frames.push_back(frame);
  }
  for (StackSample sample : other_.stack_samples) {
    sample.time = shifted(sample.time);
    sample.frame = moved(sample.frame);
    sample.thread = text(sample.thread);
    sample.cause = text(sample.cause);
    sample.object = text(sample.object);
    base_.stack_samples.push_back(sample);
  }
}

void Merger::facts() {
  for (const Fact& fact : other_.facts) {
    const Fact* const mine = base_.fact(fact.key);
    if (mine != nullptr && mine->value == fact.value) continue;
    const bool taken = mine != nullptr && !options_.prefix.empty();
    base_.facts.push_back({taken ? options_.prefix + " " + fact.key : fact.key, fact.value});
  }
  if (!base_.distributed) base_.distributed = other_.distributed;
}

void Merger::processes() {
  for (const Process& theirs : other_.processes) {
    const StringId id = text(theirs.id);
    const auto at = std::ranges::find(base_.processes, id, &Process::id);
    if (at == base_.processes.end()) {
      base_.processes.push_back({id, text(theirs.name), text(theirs.labels), theirs.sort_index});
    } else if (base_.text(at->name).empty()) {
      at->name = text(theirs.name);
    }
  }
}

MergeCounts Merger::run() {
  texts_.resize(other_.strings.size());
  tracks_.resize(other_.tracks.size());
  beside_.resize(other_.tracks.size());
  categories_.assign(other_.categories.size(), -1);
  counts_.no_common_clock = !find_shift();
  counts_.not_taken += other_.flows.size() + other_.collectives.size();
  if (!counts_.no_common_clock) {
    know_base();
    compare();
    slices();
    instants();
    samples();
    memory();
    stacks();
  }
  devices();
  runs();
  functions();
  source_lines();
  facts();
  processes();
  base_.import.merge(other_.import);
  base_.bytes_read += other_.bytes_read;
  return counts_;
}

}  // namespace

MergeCounts& MergeCounts::operator+=(const MergeCounts& more) {
  slices += more.slices;
  samples += more.samples;
  instants += more.instants;
  slices_outside += more.slices_outside;
  instants_outside += more.instants_outside;
  slices_known += more.slices_known;
  activities += more.activities;
  activities_known += more.activities_known;
  calls_known += more.calls_known;
  ranges_known += more.ranges_known;
  activities_doubtful += more.activities_doubtful;
  not_taken += more.not_taken;
  if (!distance) distance = more.distance;
  beyond_error = beyond_error || more.beyond_error;
  steps.insert(steps.end(), more.steps.begin(), more.steps.end());
  no_common_clock = no_common_clock || more.no_common_clock;
  return *this;
}

MergeCounts merge_into(Trace& base, const Trace& other, const MergeOptions& options) {
  return Merger(base, other, options).run();
}

}  // namespace fathom
