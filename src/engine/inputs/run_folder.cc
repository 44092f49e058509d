// Finds the recordings of a session folder, reads and merges their files.
#include "engine/inputs/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_source.h"
#include "engine/inputs/run_conditions.h"
#include "engine/inputs/run_facts.h"
#include "engine/inputs/run_family.h"
#include "engine/inputs/run_sources.h"
#include "engine/inputs/trace_cache.h"
#include "store/merge.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "fathom-run/";
constexpr int kNewestVersion = 1;  ///< Of a session folder, as its manifest says.

/// What to say of a folder that a newer Fathom wrote: what stands in it may mean something else.
std::optional<Error> newer_version(const RunRecording& recording) {
  if (recording.manifest == nullptr) return std::nullopt;
  const std::optional<std::string> version =
      unknown_version(stated_schema(*recording.manifest), kSchema, kNewestVersion);
  if (!version) return std::nullopt;
  return Error{ErrorCode::unsupported,
               "a session folder of version " + *version +
                   "; this Fathom reads version 1: use the one that recorded it, or a newer one"};
}

/// The capture files of a root: its own, its children's, the launcher's. Sole roots get all. What
/// is below two roots belongs to the nearer.
void add_parts(const RunFiles& files, Ancestors& ancestors, const std::set<std::int64_t>& roots,
               RunRecording& recording) {
  const bool sole = roots.size() == 1;
  for (const bool own : {true, false}) {
    for (const NamedFile& file : files.captures) {
      if ((file.pid == recording.pid) != own) continue;
      const bool belongs = sole || ancestors.root_of(file.pid) == recording.pid;
      if (belongs) recording.parts.push_back(file.path);
    }
  }
  recording.parts.insert(recording.parts.end(), files.launcher.begin(), files.launcher.end());
  if (sole) recording.parts.insert(recording.parts.end(), files.others.begin(), files.others.end());
  for (const NamedFile& file : files.conditions) {
    if (file.pid == recording.pid) recording.conditions.push_back(file.path);
  }
  for (const NamedFile& file : files.for_others) {
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

/// Puts a recording together, file after file.
class Merging {
 public:
  Merging(const RunRecording& recording, const ReadOptions& options)
      : recording_(recording), options_(options) {}

  /// Reads a file and adds it, or begins with it where there is nothing yet.
  void add(const std::string& path) {
    if (trace_ && recording_.shared != nullptr && recording_.shared->has(path)) {
      const SharedFiles::Read read = recording_.shared->read(path, options_);
      if (*read) return append((**read).trace, (**read).clock_error_ns, path);
      return warnings_.push_back(read->error().message);
    }
    Result<Trace> read = read_kept_trace(path, options_);
    if (!read) return warnings_.push_back(read.error().message);
    const std::int64_t error = take_clock_error(*read, file_name(path));
    if (trace_) return append(*read, error, path);
    trace_ = std::move(*read);
    base_error_ = error;
  }

  Result<Trace> take() {
    if (!trace_) {
      return Error{ErrorCode::corrupt, warnings_.empty()
                                           ? recording_.folder + ": nothing was recorded"
                                           : warnings_.front()};
    }
    say_counts(*trace_, counts_);
    add_run_facts(*trace_, recording_, warnings_);
    return std::move(*trace_);
  }

 private:
  void append(const Trace& other, std::int64_t error, const std::string& path) {
    MergeOptions merge;
    merge.within_span = recording_.torch && trace_->format != "fathom-wire";
    merge.prefix = file_name(path);
    merge.clock_error_ns = base_error_ + error;
    const MergeCounts merged = merge_into(*trace_, other, merge);
    say_distance(*trace_, merged, file_name(path));
    counts_ += merged;
  }

  const RunRecording& recording_;
  const ReadOptions& options_;
  std::optional<Trace> trace_;
  std::int64_t base_error_ = 0;
  MergeCounts counts_;
  std::vector<std::string> warnings_;
};

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
  Ancestors ancestors(family, roots);
  std::vector<RunRecording> recordings;
  for (const NamedFile& file : files.torch) {
    RunRecording recording{.base = file.path, .pid = file.pid, .torch = true};
    add_parts(files, ancestors, roots, recording);
    recordings.push_back(std::move(recording));
  }
  for (const std::int64_t root : roots) {
    if (!files.torch.empty()) break;
    RunRecording recording{.pid = root};
    add_parts(files, ancestors, roots, recording);
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
  const bool said = manifest != nullptr && stated_schema(*manifest).starts_with(kSchema);
  if (!said && files.captures.empty() && files.launcher.empty()) return std::nullopt;
  const auto held = std::make_shared<HeldFiles>();
  const RunFamily family =
      is_of_one_process(files) ? RunFamily{} : run_family(manifest.get(), files, *held);
  std::vector<RunRecording> recordings = group_files(files, family);
  const auto shared = recordings.size() < 2 ? nullptr
                                            : std::make_shared<SharedFiles>(std::set<std::string>(
                                                  files.launcher.begin(), files.launcher.end()));
  for (RunRecording& recording : recordings) {
    recording.folder = folder;
    recording.manifest = manifest;
    recording.shared = shared;
    recording.held = held;
  }
  return recordings;
}

Result<Trace> read_run(const RunRecording& recording, const ReadOptions& options) {
  if (std::optional<Error> newer = newer_version(recording)) {
    return std::move(*newer).in(recording.folder);
  }
  ReadOptions with_held = options;
  with_held.held = recording.held.get();
  Merging merging(recording, with_held);
  std::vector<std::string> files = {recording.base};
  files.insert(files.end(), recording.parts.begin(), recording.parts.end());
  ExpectedFiles expected(files);
  for (const std::string& file : files) {
    merging.add(file);
    expected.done(file);
  }
  Result<Trace> trace = merging.take();
  if (trace && !(*trace).lines.empty()) add_sources(*trace, recording.folder);
  return trace;
}

}  // namespace fathom
