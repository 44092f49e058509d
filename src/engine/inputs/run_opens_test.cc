// How often reading a session folder opens its files.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "engine/session.h"
#include "wire/writer.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 64;

/// Counts the opens of each file of a folder, as the kernel sees them.
class OpenCounter {
 public:
  explicit OpenCounter(const fs::path& folder) : queue_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    // Closing is watched, too, because equal events that follow each other become one.
    inotify_add_watch(queue_, folder.c_str(), IN_OPEN | IN_CLOSE);
  }
  ~OpenCounter() { close(queue_); }
  OpenCounter(const OpenCounter&) = delete;
  OpenCounter& operator=(const OpenCounter&) = delete;

  /// Takes the events since the last call.
  void collect() {
    alignas(inotify_event) std::array<char, 1 << 16> events{};
    for (ssize_t got = 0; (got = read(queue_, events.data(), events.size())) > 0;) {
      for (ssize_t at = 0; at < got;) {
        inotify_event event{};
        std::memcpy(&event, events.data() + at, sizeof(event));
        EXPECT_EQ(event.mask & IN_Q_OVERFLOW, 0U);
        if (event.len > 0 && (event.mask & IN_OPEN) != 0)
          ++opens_[events.data() + at + sizeof(event)];
        at += static_cast<ssize_t>(sizeof(event) + event.len);
      }
    }
  }
  [[nodiscard]] int of(const std::string& name) const {
    const auto found = opens_.find(name);
    return found == opens_.end() ? 0 : found->second;
  }

 private:
  int queue_;
  std::map<std::string, int> opens_;
};

void write_capture(const fs::path& path, int pid, int rank) {
  const Result<std::unique_ptr<wire::Writer>> writer = wire::Writer::open(path.string());
  ASSERT_TRUE(writer);
  const std::int64_t now = wire::monotonic_ns();
  (*writer)->process(now, pid, 1, rank, "python", "rank");
  (*writer)->slice(now, 1000, pid, pid, "work", "annotation");
}

/// Five files of each rank: torch's trace, three capture files, conditions; one of the launcher.
void write_session(const fs::path& folder, bool manifest_has_ranks) {
  std::string processes;
  for (int rank = 0; rank < kRanks && manifest_has_ranks; ++rank) {
    processes += (processes.empty() ? "" : ", ") + (R"({"pid": )" + std::to_string(100 + rank)) +
                 R"(, "parent": 7, "rank": )" + std::to_string(rank) + "}";
  }
  std::ofstream(folder / "manifest.json")
      << R"({"schema": "fathom-run/1", "processes": [)" << processes << "]}";
  write_capture(folder / "monitor.fathom", 7, -1);
  for (int rank = 0; rank < kRanks; ++rank) {
    const int pid = 100 + rank;
    const std::string id = std::to_string(pid);
    for (const char* part : {"process-", "cuda-", "nvtx-"})
      write_capture(folder / (part + id + ".fathom"), pid, rank);
    std::ofstream(folder / ("process-" + id + ".json")) << R"({"batch_size": 32})";
    std::ofstream(folder / ("torch-" + id + "-1.pt.trace.json"))
        << R"({"baseTimeNanoseconds": 0, "traceEvents": [{"ph": "X", "cat": "cpu_op",)"
        << R"( "name": "aten::mm", "pid": )" << id << R"(, "tid": 1, "ts": 0, "dur": 5}]})";
  }
}

/// How often each capture file is opened to find and to read all ranks of such a session; 0 where
/// that cannot be seen. Every other file must be opened once.
int opens_of_captures(bool manifest_has_ranks) {
  std::string pattern = (fs::temp_directory_path() / "fathom_opens_XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  write_session(folder, manifest_has_ranks);
  OpenCounter counter(folder);
  const std::string argument = folder.string();
  const Result<Inputs> inputs = expand_inputs(std::span(&argument, 1));
  EXPECT_TRUE(inputs);
  EXPECT_EQ((*inputs).files.size(), static_cast<std::size_t>(kRanks));
  counter.collect();
  for (const Inputs::File& file : (*inputs).files) {
    EXPECT_TRUE(Session::open(file, {.threads = 1}));
    counter.collect();
  }
  fs::remove_all(folder);
  if (counter.of("process-100.json") == 0) return 0;
  EXPECT_EQ(counter.of("manifest.json"), 1);
  EXPECT_EQ(counter.of("monitor.fathom"), 1);
  const int opens = counter.of("cuda-100.fathom");
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string id = std::to_string(100 + rank);
    EXPECT_EQ(counter.of("torch-" + id + "-1.pt.trace.json"), 1);
    EXPECT_EQ(counter.of("process-" + id + ".json"), 1);
    for (const char* part : {"process-", "cuda-", "nvtx-"})
      EXPECT_EQ(counter.of(part + id + ".fathom"), opens) << part << id;
  }
  return opens;
}

constexpr const char* kUnseen = "this file system does not report what is opened";

TEST(RunOpens, EachFileIsOpenedOnceWhereTheManifestHasTheRanks) {
  const int opens = opens_of_captures(true);
  if (opens == 0) GTEST_SKIP() << kUnseen;
  EXPECT_EQ(opens, 1);
}

TEST(RunOpens, AndWhereOnlyTheirFirstRecordsSayWhoseTheyAre) {
  const int opens = opens_of_captures(false);
  if (opens == 0) GTEST_SKIP() << kUnseen;
  EXPECT_EQ(opens, 1);
}

}  // namespace
}  // namespace fathom
