// HeldFiles: files of which the first bytes were looked at, open for who reads them later.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace fathom {

/// So that a file is opened once although it is looked at before it is read. Thread-safe.
class HeldFiles {
 public:
  /// Holds no more than `most` files; all of the process hold no more than a quarter of those that
  /// it may have open.
  explicit HeldFiles(std::size_t most = 256) : most_(most) {}
  ~HeldFiles();
  HeldFiles(const HeldFiles&) = delete;
  HeldFiles& operator=(const HeldFiles&) = delete;

  /// The first bytes of the file, at most so many; fewer where it ends, none where it cannot be
  /// read. A regular file stays open where there is room, and is only opened again where not.
  std::vector<std::byte> head(const std::string& path, std::size_t most);
  /// The file, at its begin, if it is held and its path still names it; else none. Once.
  Descriptor take(const std::string& path);

 private:
  void hold(const std::string& path, Descriptor file);

  std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, Descriptor> files_;
};

}  // namespace fathom
