// Creates the capture file of this process under a name that nobody else has.
#include "capture/inside/capture_file.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::inside {
namespace {

constexpr int kMostNames = 1000;

void make_folder(const std::string& folder) {
  for (std::size_t at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    mkdir(folder.substr(0, at).c_str(), 0777);
  mkdir(folder.c_str(), 0777);
}

/// Empty where none can be made.
std::string take_name(const std::string& start) {
  for (int i = 1; i < kMostNames; ++i) {
    std::string path = start + (i == 1 ? "" : "-" + std::to_string(i)) + ".fathom";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) {
      close(file);
      return path;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

/// A file that goes away unless it is kept.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path.c_str()) {}
  ~NewFile() {
    if (path_ != nullptr) unlink(path_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  void keep() { path_ = nullptr; }

 private:
  const char* path_;  // of the caller's
};

std::string_view role(std::int32_t rank, bool forked) {
  if (forked) return "child";
  return rank >= 0 ? "rank" : "main";
}

}  // namespace

std::unique_ptr<wire::Writer> open_capture_file(const std::string& folder, const std::string& stem,
                                                const Settings& settings, bool forked) {
  make_folder(folder);
  const std::int32_t pid = getpid();
  const std::string path = take_name(folder + '/' + stem + '-' + std::to_string(pid));
  if (path.empty()) return nullptr;
  NewFile file(path);
  auto writer = wire::Writer::open(
      path, {.max_size_bytes = settings.max_size_bytes, .last_ns = settings.last_ns});
  if (!writer) return nullptr;
  file.keep();
  const std::int32_t rank = rank_of_environment();
  (*writer)->process(wire::monotonic_ns(), pid, getppid(), rank, program_invocation_short_name,
                     role(rank, forked));
  return std::move(*writer);
}

}  // namespace fathom::inside
