// Watches a file of another process grow until it is a whole JSON document, then fetches it.
#include "capture/attach/kineto_trace.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "capture/system/files.h"
#include "capture/system/proc.h"

namespace fathom::capture {
namespace {

/// A file that has not grown for so many looks, and ends as JSON does, is complete.
constexpr int kUnchangedLooks = 4;

/// Where that program may write to: libkineto refuses to write anywhere else.
std::string trace_folder(pid_t pid) {
  std::string folder = read_variable(pid, "KINETO_ONDEMAND_TRACE_DIR").value_or("");
  if (folder.empty()) folder = "/tmp";
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

/// What stands before its paths to make them ours: nothing, unless it has a root of its own.
std::string root_of(pid_t pid) {
  const std::string link = "/proc/" + std::to_string(pid);
  std::error_code failure;
  const auto theirs = std::filesystem::read_symlink(link + "/ns/mnt", failure);
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/mnt", failure);
  return failure || theirs == ours ? std::string() : link + "/root";
}

bool ends_as_json(const std::string& path, std::uintmax_t size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 64> tail{};
  const auto from = static_cast<off_t>(size > tail.size() ? size - tail.size() : 0);
  const ssize_t got = pread(file, tail.data(), tail.size(), from);
  ::close(file);
  if (got <= 0) return false;
  return trimmed({tail.data(), static_cast<std::size_t>(got)}).ends_with('}');
}

}  // namespace

KinetoTrace::KinetoTrace(pid_t pid, const std::string& tag)
    : KinetoTrace(pid, tag, trace_folder(pid), root_of(pid)) {}

KinetoTrace::KinetoTrace(pid_t pid, const std::string& tag, const std::string& folder,
                         std::string root)
    : pid_(pid), root_(std::move(root)) {
  const std::string id = std::to_string(pid);
  const std::string stem = folder + "/fathom-attach-" + id + "-" + tag;
  plain_.path = stem + ".json";
  numbered_.path = stem + "_" + id + ".json";
}

bool KinetoTrace::look_at(File& file) const {
  const std::string path = root_ + file.path;
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  if (failure || size == 0) return false;
  file.unchanged = size == file.size ? file.unchanged + 1 : 0;
  file.size = size;
  file.complete = file.unchanged >= kUnchangedLooks && ends_as_json(path, size);
  return file.complete;
}

bool KinetoTrace::is_complete() { return look_at(plain_) || look_at(numbered_); }

bool KinetoTrace::exists() const {
  std::error_code ignored;
  return std::filesystem::exists(root_ + plain_.path, ignored) ||
         std::filesystem::exists(root_ + numbered_.path, ignored);
}

Result<void> KinetoTrace::move_to(const std::string& path) const {
  const std::string from = root_ + (plain_.complete ? plain_.path : numbered_.path);
  std::error_code failure;
  std::filesystem::rename(from, path, failure);
  if (!failure) return {};
  // Another file system; and what is not ours to remove is left there.
  std::filesystem::copy_file(from, path, failure);
  if (failure) return Error{ErrorCode::io, from + ": " + failure.message()};
  std::filesystem::remove(from, failure);
  return {};
}

}  // namespace fathom::capture
