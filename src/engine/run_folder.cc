// What belongs together becomes one recording; its files are read and merged.
#include "engine/run_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "analysis/run_usage.h"
#include "engine/run_conditions.h"
#include "engine/run_family.h"
#include "store/merge.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "fathom-run/";

/// The capture files of a root: its own, its children's, the launcher's. Sole roots get all.
void add_parts(const RunFiles& files, const RunFamily& family, const std::set<std::int64_t>& roots,
               RunRecording& recording) {
  const bool sole = roots.size() == 1;
  for (const bool own : {true, false}) {
    for (const NamedFile& file : files.captures) {
      if ((file.pid == recording.pid) != own) continue;
      const bool root = file.pid != recording.pid && roots.contains(file.pid);
      const bool belongs = sole || (!root && family.descends(file.pid, recording.pid));
      if (belongs) recording.parts.push_back(file.path);
    }
  }
  recording.parts.insert(recording.parts.end(), files.launcher.begin(), files.launcher.end());
  if (sole) recording.parts.insert(recording.parts.end(), files.others.begin(), files.others.end());
  for (const NamedFile& file : files.conditions) {
    if (file.pid == recording.pid) recording.conditions.push_back(file.path);
  }
  for (const NamedFile& file : files.memory) {
    if (sole || file.pid == recording.pid) recording.kept.push_back(file.path);
  }
}

std::vector<std::string> left_aside(const RunFiles& files,
                                    const std::vector<RunRecording>& recordings) {
  std::set<std::string> used;
  for (const RunRecording& recording : recordings) {
    used.insert(recording.base);
    used.insert(recording.parts.begin(), recording.parts.end());
  }
  std::vector<std::string> aside;
  for (const NamedFile& file : files.captures) {
    if (!used.contains(file.path)) aside.push_back(file.path);
  }
  for (const std::string& path : files.others) {
    if (!used.contains(path)) aside.push_back(path);
  }
  return aside;
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// Says in facts what was not taken, and which steps the whole run had.
void say_counts(Trace& trace, const MergeCounts& counts) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  };
  add(counts.slices_outside, "slices");
  add(counts.instants_outside, "instants");
  if (!text.empty()) {
    add_text_fact(trace, "left_out",
                  text + " of the capture lie outside of what torch.profiler recorded");
  }
  std::string steps;
  for (const auto& [number, start, end] : counts.steps) {
    steps += steps.empty() ? "[" : ",";
    steps += "[" + std::to_string(number) + "," + std::to_string(start) + "," +
             std::to_string(end) + "]";
  }
  if (!steps.empty()) trace.facts.push_back({std::string(kRunStepsFact), steps + "]"});
  const auto count = [&trace](std::string_view key, std::uint64_t events) {
    if (events > 0) trace.facts.push_back({std::string(key), std::to_string(events)});
  };
  count("activities_recorded_twice", counts.activities_known);
  count("calls_recorded_twice", counts.calls_known);
  count("ranges_recorded_twice", counts.ranges_known);
  count("activities_told_otherwise", counts.activities_doubtful);
  if (counts.no_common_clock) {
    add_warning(trace,
                "a file of the session has no Unix time: its slices and samples are not shown");
  }
}

/// Of Kineto, which states none: on torch 2.15 its clock and ours agree within this.
constexpr std::int64_t kKinetoClockError = 10'000;

/// What a recording states of its clocks, all added up; it is kept under the file's name.
std::int64_t take_clock_error(Trace& trace, const std::string& name) {
  std::int64_t sum = 0;
  bool stated = false;
  for (Fact& fact : trace.facts) {
    // Of Unix time, and of the device's clock (cuda.clock.error_ns).
    if (!fact.key.ends_with("clock_error_ns") && !fact.key.ends_with("clock.error_ns")) continue;
    std::int64_t error = 0;
    const std::string_view digits =
        std::string_view(fact.value).substr(fact.value.starts_with('"') ? 1 : 0);
    std::from_chars(digits.data(), digits.data() + digits.size(), error);
    sum += std::clamp<std::int64_t>(error, 0, 1'000'000'000);
    stated = true;
    fact.key += " " + name;
  }
  return stated ? sum : kKinetoClockError;
}

/// How far the clocks of two files were found apart, by what both saw.
void say_distance(Trace& trace, const MergeCounts& counts, const std::string& name) {
  if (!counts.distance) return;
  trace.facts.push_back({"clock_offset_ns " + name, std::to_string(counts.distance->offset_ns)});
  if (!counts.beyond_error) return;
  add_warning(trace, "the clock of " + name + " is " + std::to_string(counts.distance->offset_ns) +
                         " ns off, which is more than it states: its times beside others are "
                         "off by that");
}

/// Reads `path` and adds it to `trace`, or makes it the trace where there is none yet.
bool add_file(std::optional<Trace>& trace, const std::string& path, const RunRecording& recording,
              const ReadOptions& options, MergeCounts& counts, std::int64_t& base_error,
              std::vector<std::string>& warnings) {
  Result<Trace> read = read_trace(path, options);
  if (!read) {
    warnings.push_back(read.error().message);
    return false;
  }
  const std::int64_t error = take_clock_error(*read, name_of(path));
  if (!trace) {
    trace = std::move(*read);
    base_error = error;
    return true;
  }
  MergeOptions merge;
  merge.within_span = recording.torch && trace->format != "fathom-wire";
  merge.prefix = name_of(path);
  merge.clock_error_ns = base_error + error;
  const MergeCounts merged = merge_into(*trace, *read, merge);
  say_distance(*trace, merged, name_of(path));
  counts += merged;
  return true;
}

void add_facts(Trace& trace, const std::string& folder, const RunRecording& recording,
               const std::vector<std::string>& warnings) {
  const std::string manifest = (fs::path(folder) / kRunManifest).string();
  const Result<std::string> text = read_small_file(manifest);
  if (!text) {
    add_warning(trace, "manifest.json is missing: the conditions of the run are not known");
  } else if (!add_manifest(trace, *text)) {
    add_warning(trace, "manifest.json is damaged: the conditions of the run are not known");
  }
  for (const std::string& path : recording.conditions) {
    const Result<std::string> said = read_small_file(path);
    if (!said || !add_conditions(trace, *said))
      add_warning(trace, name_of(path) + " is damaged: what the program said of itself is missing");
  }
  for (const std::string& path : recording.aside)
    add_text_fact(trace, "not_merged",
                  name_of(path) + " belongs to another process: read it by name");
  for (const std::string& path : recording.kept) {
    add_text_fact(trace, "kept",
                  name_of(path) + (path.ends_with(".pickle")
                                       ? ": history of torch's allocator, which no table shows; "
                                         "docs.pytorch.org/memory_viz does"
                                       : ": torch's allocator after each phase, which no table "
                                         "shows; it is JSON"));
  }
  for (const std::string& warning : warnings) add_warning(trace, warning);
}

}  // namespace

bool is_run_folder(const std::string& folder) {
  const std::string manifest = (fs::path(folder) / kRunManifest).string();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  if (fs::is_regular_file(manifest, error)) {
    const Result<std::string> text = read_small_file(manifest);
    if (text && manifest_schema(*text).starts_with(kSchema)) return true;
  }
  const RunFiles files = run_files(folder);
  return !files.captures.empty() || !files.launcher.empty();
}

std::vector<RunRecording> run_recordings(const std::string& folder) {
  const RunFiles files = run_files(folder);
  const RunFamily family = run_family(folder, files);
  const std::set<std::int64_t> roots = run_roots(files, family);
  std::vector<RunRecording> recordings;
  for (const NamedFile& file : files.torch) {
    RunRecording recording{.base = file.path, .pid = file.pid, .torch = true};
    add_parts(files, family, roots, recording);
    recordings.push_back(std::move(recording));
  }
  for (const std::int64_t root : roots) {
    if (!files.torch.empty()) break;
    RunRecording recording{.pid = root};
    add_parts(files, family, roots, recording);
    recordings.push_back(std::move(recording));
  }
  if (recordings.empty() && files.any_capture()) {
    RunRecording recording;
    recording.parts = files.launcher;
    recording.parts.insert(recording.parts.end(), files.others.begin(), files.others.end());
    recordings.push_back(std::move(recording));
  }
  for (RunRecording& recording : recordings) {
    if (!recording.base.empty() || recording.parts.empty()) continue;
    recording.base = recording.parts.front();
    recording.parts.erase(recording.parts.begin());
  }
  const std::vector<std::string> aside = left_aside(files, recordings);
  for (RunRecording& recording : recordings) recording.aside = aside;
  return recordings;
}

Result<Trace> read_run(const std::string& folder, const RunRecording& recording,
                       const ReadOptions& options) {
  std::optional<Trace> trace;
  std::vector<std::string> warnings;
  MergeCounts counts;
  std::int64_t base_error = 0;
  add_file(trace, recording.base, recording, options, counts, base_error, warnings);
  for (const std::string& part : recording.parts)
    add_file(trace, part, recording, options, counts, base_error, warnings);
  if (!trace) {
    return Error{ErrorCode::corrupt,
                 warnings.empty() ? folder + ": nothing was recorded" : warnings.front()};
  }
  say_counts(*trace, counts);
  add_facts(*trace, folder, recording, warnings);
  return std::move(*trace);
}

}  // namespace fathom
