// File names decide what belongs together; the first records of the capture files, whose child is
// whose.
#include "engine/run_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "engine/run_conditions.h"
#include "store/merge.h"
#include "wire/reader.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kSchema = "fathom-run/";
/// The records that introduce a process are among the first.
constexpr std::size_t kHeadBytes = std::size_t{128} << 10;

/// What a file's name says: "torch-12-1.pt.trace.json" is of process 12, number 1.
struct Named {
  std::string path;
  std::int64_t pid = 0;
  std::int64_t number = 0;
};

/// The number at the front of `rest`, which then begins behind it.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

struct Files {
  std::vector<Named> torch;           // by pid and number
  std::vector<Named> captures;        // process-*.fathom; the older half of a ring first
  std::vector<std::string> launcher;  // monitor*.fathom
  std::vector<Named> conditions;      // process-*.json
  std::vector<std::string> others;    // further capture files
  bool manifest = false;

  [[nodiscard]] bool any_capture() const {
    return !captures.empty() || !launcher.empty() || !others.empty();
  }
};

void sort(std::vector<Named>& files) {
  std::ranges::sort(files, [](const Named& a, const Named& b) {
    return std::tie(a.pid, a.number, a.path) < std::tie(b.pid, b.number, b.path);
  });
}

void add(Files& files, const std::string& path, std::string_view name) {
  if (name == kManifest) {
    files.manifest = true;
    return;
  }
  std::string_view rest = name;
  if (name.starts_with("torch-") && name.find(".pt.trace.json") != name.npos) {
    rest.remove_prefix(6);
    const std::optional<std::int64_t> pid = take_number(rest);
    rest.remove_prefix(rest.starts_with('-') ? 1 : 0);
    if (pid) files.torch.push_back({path, *pid, take_number(rest).value_or(0)});
    return;
  }
  if (name.starts_with("process-")) {
    rest.remove_prefix(8);
    const std::optional<std::int64_t> pid = take_number(rest);
    if (pid && rest == ".json") return files.conditions.push_back({path, *pid, 0});
    if (pid && rest == ".older.fathom") return files.captures.push_back({path, *pid, 0});
    if (pid && rest == ".fathom") return files.captures.push_back({path, *pid, 1});
  }
  if (name == "monitor.fathom" || name == "monitor.older.fathom") {
    files.launcher.push_back(path);
  } else if (name.ends_with(".fathom")) {
    files.others.push_back(path);
  }
}

Files files_of(const std::string& folder) {
  Files files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored))
      add(files, at->path().string(), at->path().filename().string());
  }
  sort(files.torch);
  sort(files.captures);
  sort(files.conditions);
  // The older half of a ring comes first, whatever the alphabet says.
  std::ranges::sort(files.launcher, std::greater<>());
  std::ranges::sort(files.others);
  return files;
}

/// What the first records of a capture file say about its process.
class Introduction final : public wire::Visitor {
 public:
  explicit Introduction(std::int64_t pid) : pid_(pid) {}
  void process(const wire::ProcessRecord& record, std::uint64_t /*offset*/) override {
    if (record.pid != pid_ || known) return;
    known = true;
    parent = record.parent;
    rank = record.rank;
    main = record.role == "main" || record.role == "rank";
  }
  void clock(const wire::ClockRecord&, std::uint64_t) override {}
  void thread(const wire::ThreadRecord&, std::uint64_t) override {}
  void slice(const wire::SliceRecord&, std::uint64_t) override {}
  void begin(const wire::MomentRecord&, std::uint64_t) override {}
  void end(const wire::MomentRecord&, std::uint64_t) override {}
  void instant(const wire::MomentRecord&, std::uint64_t) override {}
  std::uint32_t counter(const wire::CounterRecord&, std::uint64_t) override { return 0; }
  void sample(const wire::SampleRecord&, std::uint64_t) override {}
  void fact(const wire::FactRecord&, std::uint64_t) override {}
  void exit(const wire::ExitRecord&, std::uint64_t) override {}
  void dropped(const wire::DroppedRecord&, std::uint64_t) override {}
  void function(const wire::FunctionRecord&, std::uint64_t) override {}

  bool known = false;
  bool main = false;
  std::int64_t parent = 0;
  std::int32_t rank = -1;

 private:
  std::int64_t pid_;
};

void introduce(const std::string& path, Introduction& introduction) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> head(kHeadBytes);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  wire::Reader reader(introduction);
  reader.feed(std::as_bytes(std::span(head)));
  reader.finish();
}

/// Who is whose child, and who has which rank.
struct Family {
  std::map<std::int64_t, std::int64_t> parents;
  std::map<std::int64_t, std::int32_t> ranks;
  std::set<std::int64_t> mains;

  [[nodiscard]] bool descends(std::int64_t pid, std::int64_t from) const {
    // A damaged table may go round in circles.
    for (std::size_t steps = 0; steps <= parents.size(); ++steps) {
      if (pid == from) return true;
      const auto at = parents.find(pid);
      if (at == parents.end() || at->second == pid) return false;
      pid = at->second;
    }
    return false;
  }
};

Family family_of(const std::string& folder, const Files& files) {
  Family family;
  const Result<std::string> manifest = read_small_file((fs::path(folder) / kManifest).string());
  if (manifest) {
    for (const ManifestProcess& process : manifest_processes(*manifest))
      family.parents[process.pid] = process.parent;
  }
  for (const Named& file : files.captures) {
    Introduction introduction(file.pid);
    introduce(file.path, introduction);
    if (!introduction.known) continue;
    if (introduction.parent > 0) family.parents[file.pid] = introduction.parent;
    if (introduction.rank >= 0) family.ranks[file.pid] = introduction.rank;
    if (introduction.main) family.mains.insert(file.pid);
  }
  return family;
}

/// The processes that a recording each is made of: those with traces of torch.profiler, else the
/// ranks that are no children of another with the same number, else one.
std::set<std::int64_t> roots_of(const Files& files, const Family& family) {
  std::set<std::int64_t> roots;
  for (const Named& file : files.torch) roots.insert(file.pid);
  if (!roots.empty()) return roots;
  for (const auto& [pid, rank] : family.ranks) {
    const auto parent = family.parents.find(pid);
    const auto same =
        parent == family.parents.end() ? family.ranks.end() : family.ranks.find(parent->second);
    const bool inherited = same != family.ranks.end() && same->second == rank;
    if (!inherited) roots.insert(pid);
  }
  if (roots.size() > 1) return roots;
  roots.clear();
  if (!family.mains.empty()) return {*family.mains.begin()};
  if (!files.captures.empty()) return {files.captures.front().pid};
  return {};
}

/// The capture files of a root: its own, its children's, the launcher's. Sole roots get all.
void add_parts(const Files& files, const Family& family, const std::set<std::int64_t>& roots,
               RunRecording& recording) {
  const bool sole = roots.size() == 1;
  for (const bool own : {true, false}) {
    for (const Named& file : files.captures) {
      if ((file.pid == recording.pid) != own) continue;
      const bool root = file.pid != recording.pid && roots.contains(file.pid);
      const bool belongs = sole || (!root && family.descends(file.pid, recording.pid));
      if (belongs) recording.parts.push_back(file.path);
    }
  }
  recording.parts.insert(recording.parts.end(), files.launcher.begin(), files.launcher.end());
  if (sole) recording.parts.insert(recording.parts.end(), files.others.begin(), files.others.end());
  for (const Named& file : files.conditions) {
    if (file.pid == recording.pid) recording.conditions.push_back(file.path);
  }
}

std::vector<std::string> left_aside(const Files& files,
                                    const std::vector<RunRecording>& recordings) {
  std::set<std::string> used;
  for (const RunRecording& recording : recordings) {
    used.insert(recording.base);
    used.insert(recording.parts.begin(), recording.parts.end());
  }
  std::vector<std::string> aside;
  for (const Named& file : files.captures) {
    if (!used.contains(file.path)) aside.push_back(file.path);
  }
  for (const std::string& path : files.others) {
    if (!used.contains(path)) aside.push_back(path);
  }
  return aside;
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// Says in a fact what was not taken.
void say_counts(Trace& trace, const MergeCounts& counts) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  };
  add(counts.slices_outside, "slices");
  add(counts.instants_outside, "instants");
  add(counts.samples_outside, "samples");
  if (!text.empty()) {
    add_text_fact(trace, "left_out",
                  text + " of the capture lie outside of what torch.profiler recorded");
  }
  if (counts.no_common_clock) {
    add_warning(trace,
                "a file of the session has no Unix time: its slices and samples are not shown");
  }
}

/// Reads `path` and adds it to `trace`, or makes it the trace where there is none yet.
bool add_file(std::optional<Trace>& trace, const std::string& path, const RunRecording& recording,
              const ReadOptions& options, MergeCounts& counts, std::vector<std::string>& warnings) {
  Result<Trace> read = read_trace(path, options);
  if (!read) {
    warnings.push_back(read.error().message);
    return false;
  }
  if (!trace) {
    trace = std::move(*read);
    return true;
  }
  MergeOptions merge;
  merge.within_span = recording.torch && trace->format != "fathom-wire";
  merge.prefix = name_of(path);
  counts += merge_into(*trace, *read, merge);
  return true;
}

void add_facts(Trace& trace, const std::string& folder, const RunRecording& recording,
               const std::vector<std::string>& warnings) {
  const std::string manifest = (fs::path(folder) / kManifest).string();
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
  for (const std::string& warning : warnings) add_warning(trace, warning);
}

}  // namespace

bool is_run_folder(const std::string& folder) {
  const std::string manifest = (fs::path(folder) / kManifest).string();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  if (fs::is_regular_file(manifest, error)) {
    const Result<std::string> text = read_small_file(manifest);
    if (text && manifest_schema(*text).starts_with(kSchema)) return true;
  }
  const Files files = files_of(folder);
  return !files.captures.empty() || !files.launcher.empty();
}

std::vector<RunRecording> run_recordings(const std::string& folder) {
  const Files files = files_of(folder);
  const Family family = family_of(folder, files);
  const std::set<std::int64_t> roots = roots_of(files, family);
  std::vector<RunRecording> recordings;
  for (const Named& file : files.torch) {
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
  add_file(trace, recording.base, recording, options, counts, warnings);
  for (const std::string& part : recording.parts)
    add_file(trace, part, recording, options, counts, warnings);
  if (!trace) {
    return Error{ErrorCode::corrupt,
                 warnings.empty() ? folder + ": nothing was recorded" : warnings.front()};
  }
  say_counts(*trace, counts);
  add_facts(*trace, folder, recording, warnings);
  return std::move(*trace);
}

}  // namespace fathom
