// Finds the recordings of a session folder, reads and merges their files.
#include "engine/inputs/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "engine/inputs/run_conditions.h"
#include "engine/inputs/run_facts.h"
#include "engine/inputs/run_family.h"
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

void name_program(const RunFamily& family, const std::set<std::int64_t>& roots,
                  RunRecording& recording) {
  if (roots.size() < 2 || family.ranks.contains(recording.pid)) return;
  const auto name = family.names.find(recording.pid);
  const std::string process = "process " + std::to_string(recording.pid);
  recording.program = name == family.names.end() ? process : name->second + " (" + process + ")";
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

/// Reads `path` and adds it to `trace`, or makes it the trace where there is none yet.
bool add_file(std::optional<Trace>& trace, const std::string& path, const RunRecording& recording,
              const ReadOptions& options, MergeCounts& counts, std::int64_t& base_error,
              std::vector<std::string>& warnings) {
  Result<Trace> read = read_trace(path, options);
  if (!read) {
    warnings.push_back(read.error().message);
    return false;
  }
  const std::int64_t error = take_clock_error(*read, file_name(path));
  if (!trace) {
    trace = std::move(*read);
    base_error = error;
    return true;
  }
  MergeOptions merge;
  merge.within_span = recording.torch && trace->format != "fathom-wire";
  merge.prefix = file_name(path);
  merge.clock_error_ns = base_error + error;
  const MergeCounts merged = merge_into(*trace, *read, merge);
  say_distance(*trace, merged, file_name(path));
  counts += merged;
  return true;
}

/// Null where there is none that can be read.
std::shared_ptr<const std::string> read_manifest(const std::string& folder) {
  Result<std::string> text = read_small_file((fs::path(folder) / kRunManifest).string());
  return text ? std::make_shared<const std::string>(std::move(*text)) : nullptr;
}

/// Then all files belong together, and no process need be separated from another.
bool is_of_one_process(const RunFiles& files) {
  return !files.torch.empty() && std::ranges::all_of(files.torch, [&files](const NamedFile& file) {
    return file.pid == files.torch.front().pid;
  });
}

std::vector<RunRecording> group_files(const RunFiles& files, const RunFamily& family) {
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
  for (RunRecording& recording : recordings) {
    recording.aside = aside;
    name_program(family, roots, recording);
  }
  return recordings;
}

}  // namespace

std::optional<std::vector<RunRecording>> find_recordings(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return std::nullopt;
  const RunFiles files = run_files(folder);
  const std::shared_ptr<const std::string> manifest =
      files.manifest ? read_manifest(folder) : nullptr;
  const bool said = manifest != nullptr && manifest_schema(*manifest).starts_with(kSchema);
  if (!said && files.captures.empty() && files.launcher.empty()) return std::nullopt;
  const RunFamily family =
      is_of_one_process(files) ? RunFamily{} : run_family(manifest.get(), files);
  std::vector<RunRecording> recordings = group_files(files, family);
  for (RunRecording& recording : recordings) {
    recording.folder = folder;
    recording.manifest = manifest;
  }
  return recordings;
}

Result<Trace> read_run(const RunRecording& recording, const ReadOptions& options) {
  std::optional<Trace> trace;
  std::vector<std::string> warnings;
  MergeCounts counts;
  std::int64_t base_error = 0;
  add_file(trace, recording.base, recording, options, counts, base_error, warnings);
  for (const std::string& part : recording.parts)
    add_file(trace, part, recording, options, counts, base_error, warnings);
  if (!trace) {
    return Error{ErrorCode::corrupt,
                 warnings.empty() ? recording.folder + ": nothing was recorded" : warnings.front()};
  }
  say_counts(*trace, counts);
  add_run_facts(*trace, recording, warnings);
  return std::move(*trace);
}

}  // namespace fathom
