// Opening an input: a file, standard input or memory, decompressed when its first bytes say so.
#include "base/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/gzip_source.h"
#include "base/held_files.h"
#include "base/peeked_source.h"
#include "base/read_progress.h"
#include "base/zstd_source.h"

namespace fathom {
namespace {

std::string system_text(int error) { return std::generic_category().message(error); }

/// Of the ExpectedFiles of this thread, if their progress is watched.
std::map<std::string, std::uint64_t>*& expected_files() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of this thread alone
  thread_local std::map<std::string, std::uint64_t>* files = nullptr;
  return files;
}

/// Reads a file, or standard input where there is none.
class FileSource final : public PeekedSource {
 public:
  FileSource(Descriptor file, ReadProgress* progress)
      : file_(std::move(file)), progress_(progress) {}
  [[nodiscard]] int descriptor() const { return file_ ? file_.get() : STDIN_FILENO; }

 private:
  Result<std::size_t> read_more(std::span<std::byte> out) override {
    // One call gives at most 2 GiB, and a pipe gives what it has: ask until full or at the end.
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t got = ::read(descriptor(), out.data() + filled, out.size() - filled);
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error{ErrorCode::io, "cannot be read: " + system_text(errno)};
      filled += static_cast<std::size_t>(got);
      if (progress_ != nullptr) progress_->add(static_cast<std::uint64_t>(got));
    }
    return filled;
  }

  Descriptor file_;
  ReadProgress* progress_;
};

/// Bytes that someone else owns.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes), rest_(bytes) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), rest_.size());
    if (count > 0) std::memcpy(out.data(), rest_.data(), count);
    rest_ = rest_.subspan(count);
    return count;
  }
  [[nodiscard]] std::span<const std::byte> head() const override {
    return bytes_.first(std::min(bytes_.size(), kSniffBytes));
  }

 private:
  std::span<const std::byte> bytes_;
  std::span<const std::byte> rest_;
};

Error open_error(int error) {
  switch (error) {
    case ENOENT:
      return {ErrorCode::not_found, "no such file; check the spelling and the current directory"};
    case ENOTDIR:
      return {ErrorCode::not_found, "no such file: a part of its path is not a directory"};
    case EACCES:
    case EPERM:
      return {ErrorCode::io,
              "may not be read by this user; ask its owner for read permission (chmod +r)"};
    default:
      return {ErrorCode::io, "cannot be opened: " + system_text(error)};
  }
}

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, HeldFiles* held) {
  Descriptor file;
  if (path != "-") {
    if (held != nullptr) file = held->take(path);
    while (!file) {
      file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!file && errno != EINTR) return open_error(errno);
    }
  }
  auto* const expected = expected_files();
  const bool counts = expected == nullptr || expected->erase(path) > 0;
  ReadProgress* const progress = counts ? WatchedReading::current() : nullptr;
  auto source = std::make_unique<FileSource>(std::move(file), progress);
  const int descriptor = source->descriptor();
  struct stat status = {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::invalid_argument, "is a directory; name a trace file in it"};
  }
  if (progress != nullptr && expected == nullptr && S_ISREG(status.st_mode))
    progress->expect(static_cast<std::uint64_t>(status.st_size));
  // Only a hint: a pipe refuses it, which changes nothing.
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  Result<void> peeked = source->peek();
  if (!peeked) return std::move(peeked).error();
  return std::unique_ptr<ByteSource>(std::move(source));
}

Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> raw) {
  if (looks_like_gzip(raw->head())) return open_gzip(std::move(raw));
  if (looks_like_zstd(raw->head())) return open_zstd(std::move(raw));
  return raw;
}

}  // namespace

std::size_t read_size(const ByteSource& source, std::size_t most) {
  const std::size_t known = source.head().size();
  return known < kSniffBytes ? std::min(most, known + 1) : most;
}

Result<std::unique_ptr<ByteSource>> open_source(std::string_view path, HeldFiles* held) {
  const std::string name(path);
  const std::string_view place = name == "-" ? "standard input" : path;
  Result<std::unique_ptr<ByteSource>> raw = open_file(name, held);
  if (!raw) return std::move(raw).error().in(place);
  Result<std::unique_ptr<ByteSource>> source = decompressed(*std::move(raw));
  if (!source) return std::move(source).error().in(place);
  return source;
}

ExpectedFiles::ExpectedFiles(std::span<const std::string> paths) {
  ReadProgress* const progress = WatchedReading::current();
  if (progress == nullptr) return;
  std::uint64_t sum = 0;
  for (const std::string& path : paths) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (unopened_.emplace(path, size).second) sum += size;
  }
  progress->expect(sum);
  expected_files() = &unopened_;
}

ExpectedFiles::~ExpectedFiles() {
  if (expected_files() == &unopened_) expected_files() = nullptr;
}

void ExpectedFiles::done(const std::string& path) {
  const auto file = unopened_.find(path);
  if (file == unopened_.end()) return;
  if (ReadProgress* const progress = WatchedReading::current(); progress != nullptr)
    progress->add(file->second);
  unopened_.erase(file);
}

Result<std::unique_ptr<ByteSource>> open_bytes(std::span<const std::byte> bytes) {
  return decompressed(std::make_unique<MemorySource>(bytes));
}

}  // namespace fathom
