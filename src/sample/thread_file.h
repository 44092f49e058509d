// ThreadFile: a small file of /proc that is read again and again.
#pragma once

#include <string>
#include <string_view>

#include "base/proc_file.h"

namespace fathom::sample {

/// How many files may still be kept open. One thread at a time.
class FileBudget {
 public:
  /// A quarter of what this process may open: the rest is for others in it.
  FileBudget();
  explicit FileBudget(long files) : left_(files) {}
  bool take() { return left_ > 0 && left_-- > 0; }
  void give_back() { ++left_; }

 private:
  long left_;
};

/// Kept open while the budget lasts, else opened anew for each reading: a program with thousands of
/// threads does not use up what we may open. Lives no longer than its budget.
class ThreadFile {
 public:
  ThreadFile(std::string path, FileBudget& budget);
  ~ThreadFile();
  ThreadFile(const ThreadFile&) = delete;
  ThreadFile& operator=(const ThreadFile&) = delete;

  /// As RereadFile::read.
  std::string_view read(std::string& buffer) const;

 private:
  std::string path_;
  FileBudget& budget_;
  bool kept_;
  RereadFile file_;
};

}  // namespace fathom::sample
