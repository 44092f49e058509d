// Keeps files of threads open, as far as that may be.
#include "sample/thread_file.h"

#include <algorithm>
#include <utility>

#include <sys/resource.h>

namespace fathom::sample {
namespace {

constexpr rlim_t kShare = 4;
constexpr rlim_t kMostKept = 65536;

long kept_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<long>(std::min(limit.rlim_cur / kShare, kMostKept));
}

}  // namespace

FileBudget::FileBudget() : left_(kept_files()) {}

ThreadFile::ThreadFile(std::string path, FileBudget& budget)
    : path_(std::move(path)), budget_(budget), kept_(budget.take()) {
  if (kept_) file_ = RereadFile(path_);
}

ThreadFile::~ThreadFile() {
  if (kept_) budget_.give_back();
}

std::string_view ThreadFile::read(std::string& buffer) const {
  return kept_ ? file_.read(buffer) : RereadFile(path_).read(buffer);
}

}  // namespace fathom::sample
