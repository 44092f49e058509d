// Reads whole files at once: they are small.
#include "tests/programs/recorded.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::test {
namespace {

class Collector : public wire::Visitor {
 public:
  explicit Collector(Recorded& into) : into_(into) {}
  void process(const wire::ProcessRecord& record, std::uint64_t /*offset*/) override {
    into_.roles.emplace_back(record.role);
  }
  void thread(const wire::ThreadRecord& record, std::uint64_t /*offset*/) override {
    into_.threads[record.tid] = record.name;
  }
  void slice(const wire::SliceRecord& record, std::uint64_t /*offset*/) override {
    add(into_.slices, {record.start,
                       record.duration,
                       record.pid,
                       record.tid,
                       std::string(record.name),
                       std::string(record.category),
                       record.value,
                       {}});
  }
  void begin(const wire::MomentRecord& record, std::uint64_t /*offset*/) override {
    add(into_.begun, {record.time,
                      0,
                      record.pid,
                      record.tid,
                      std::string(record.name),
                      std::string(record.category),
                      -1,
                      {}});
  }
  void end(const wire::EndRecord& /*record*/, std::uint64_t /*offset*/) override { ++into_.ends; }
  void instant(const wire::MomentRecord& record, std::uint64_t /*offset*/) override {
    add(into_.instants, {record.time,
                         0,
                         record.pid,
                         record.tid,
                         std::string(record.name),
                         std::string(record.category),
                         -1,
                         {}});
  }
  std::uint32_t counter(const wire::CounterRecord& record, std::uint64_t /*offset*/) override {
    counters_.emplace_back(record.name, record.unit);
    return static_cast<std::uint32_t>(counters_.size() - 1);
  }
  void sample(const wire::SampleRecord& record, std::uint64_t /*offset*/) override {
    const auto& [name, unit] = counters_[record.counter];
    into_.samples.push_back({record.time, name, unit, record.value});
  }
  void fact(const wire::FactRecord& record, std::uint64_t /*offset*/) override {
    into_.facts[std::string(record.key)] = record.value;
  }
  void device(const wire::DeviceActivity& record, std::uint64_t /*offset*/) override {
    add(into_.devices, {record.start,
                        record.duration,
                        record.pid,
                        record.stream,
                        std::string(record.name),
                        std::string(record.category),
                        -1,
                        {}});
  }
  void call(const wire::Call& record, std::uint64_t /*offset*/) override {
    add(into_.calls, {record.start,
                      record.duration,
                      record.pid,
                      record.tid,
                      std::string(record.name),
                      std::string(record.category),
                      -1,
                      {}});
  }
  void dropped(const wire::DroppedRecord& record, std::uint64_t /*offset*/) override {
    into_.dropped += record.count;
  }
  void argument(const wire::ArgumentRecord& record, std::uint64_t /*offset*/) override {
    last_->back().arguments[std::string(record.key)] = record.value;
  }

 private:
  void add(std::vector<RecordedSlice>& list, RecordedSlice slice) {
    into_.last_time = std::max(into_.last_time, slice.end());
    list.push_back(std::move(slice));
    last_ = &list;
  }

  Recorded& into_;
  std::vector<std::pair<std::string, std::string>> counters_;
  std::vector<RecordedSlice>* last_ = nullptr;
};

/// With the null at the end that the system wants.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all(words.size() + 1, nullptr);
  std::ranges::transform(words, all.begin(), [](std::string& word) { return word.data(); });
  return all;
}

void read_into(const std::string& path, Recorded& recorded) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Collector collector(recorded);
  wire::Reader reader(collector);
  reader.feed(std::as_bytes(std::span(bytes)));
  reader.finish();
  recorded.damaged_bytes += reader.damage().skipped_bytes;
  const wire::Damage& damage = reader.damage();
  const auto note = [&](const char* what, const wire::Found& found) {
    if (found.count > 0) recorded.damage += path + ": " + std::to_string(found.count) + what;
  };
  if (!bytes.starts_with(wire::kMagic)) recorded.damage += path + ": no magic";
  note(" stretches skipped", damage.skipped);
  note(" blocks cut off", damage.cut_off);
  note(" blocks missing", damage.missing);
  note(" records malformed", damage.malformed);
  note(" texts missing", damage.texts);
}

}  // namespace

std::vector<RecordedSlice> Recorded::named(const std::string& name) const {
  std::vector<RecordedSlice> found;
  std::ranges::copy_if(slices, std::back_inserter(found),
                       [&](const RecordedSlice& slice) { return slice.name == name; });
  return found;
}

Folder::Folder() : path_(std::filesystem::temp_directory_path() / "fathom_test.XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) path_.clear();
}

Folder::~Folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::files() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    if (entry.path().extension() == ".fathom") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

Recorded read_file(const std::string& path) {
  Recorded recorded;
  read_into(path, recorded);
  return recorded;
}

Recorded read_folder(const Folder& folder) {
  Recorded recorded;
  for (const std::string& path : folder.files()) read_into(path, recorded);
  return recorded;
}

int start_program(const std::string& name, const std::vector<std::string>& arguments,
                  const Environment& environment) {
  const bool elsewhere = name.starts_with('/');
  const std::string path = elsewhere ? name : std::string(FATHOM_PROGRAMS) + '/' + name;
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> settings;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("FATHOM_")) settings.emplace_back(*variable);
  for (const auto& [key, value] : environment) settings.push_back(std::string(key) += '=' + value);
  std::vector<char*> argv = pointers(words);
  std::vector<char*> envp = pointers(settings);
  pid_t pid = -1;
  return posix_spawn(&pid, path.c_str(), nullptr, nullptr, argv.data(), envp.data()) == 0 ? pid
                                                                                          : -1;
}

int wait_for(int pid) {
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

}  // namespace fathom::test
