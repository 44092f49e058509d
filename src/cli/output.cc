// Writes results to standard output or a file, completely.
#include "cli/output.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/whole_io.h"

namespace fathom::cli {
namespace {

Error io_error(const std::string& path) {
  return {ErrorCode::invalid_argument,
          (path.empty() ? "standard output" : path) + ": " + std::strerror(errno)};
}

}  // namespace

Result<Output> Output::open(const std::string& path, std::string_view option) {
  if (path.empty() || path == "-") return Output(STDOUT_FILENO, "");
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return io_error(path).in(option);
  return Output(descriptor, path);
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      closed_(other.closed_) {}

Output::~Output() {
  if (descriptor_ >= 0 && !path_.empty()) close(descriptor_);
}

Result<void> Output::write(std::string_view text) {
  if (closed_ || write_all(descriptor_, text) == text.size()) return {};
  if (errno != EPIPE) return io_error(path_);
  closed_ = true;
  return {};
}

Result<void> Output::finish() {
  if (path_.empty() || descriptor_ < 0) return {};
  if (close(std::exchange(descriptor_, -1)) != 0) return io_error(path_);
  return {};
}

Result<void> write_file(const std::string& path, std::string_view option, std::string_view text) {
  Result<Output> file = Output::open(path, option);
  if (!file) return std::move(file).error();
  if (Result<void> written = file->write(text); !written) return written;
  return file->finish();
}

}  // namespace fathom::cli
