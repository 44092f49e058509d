// Reads files that belong to several recordings of a session folder once for all of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "formats/format.h"

namespace fathom {

/// What the launcher recorded beside all ranks. Thread-safe.
class SharedFiles {
 public:
  struct Content {
    Trace trace;
    std::int64_t clock_error_ns = 0;  ///< As take_clock_error() tells.
  };
  using Read = std::shared_ptr<const Result<Content>>;

  explicit SharedFiles(std::set<std::string> paths) : paths_(std::move(paths)) {}

  [[nodiscard]] bool has(const std::string& path) const { return paths_.contains(path); }
  /// Of one of the paths. What it holds stays in memory as long as this.
  Read read(const std::string& path, const ReadOptions& options);

 private:
  std::set<std::string> paths_;
  std::mutex mutex_;
  std::map<std::string, Read> read_;
};

}  // namespace fathom
