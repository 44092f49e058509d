// How much of the files that are read was read so far, for who waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace fathom {

/// Counts bytes as they lie in files, compressed or not. Thread-safe.
class ReadProgress {
 public:
  /// A file of that size will be read.
  void expect(std::uint64_t bytes) { expected_ += bytes; }
  void add(std::uint64_t bytes) { read_ += bytes; }

  /// From 0 to 1; nothing where no size is known, as of a pipe.
  [[nodiscard]] std::optional<double> share() const {
    const std::uint64_t expected = expected_.load();
    if (expected == 0) return std::nullopt;
    const double share = static_cast<double>(read_.load()) / static_cast<double>(expected);
    return share < 1 ? share : 1;
  }

 private:
  std::atomic<std::uint64_t> expected_ = 0;
  std::atomic<std::uint64_t> read_ = 0;
};

/// While it lives, files that this thread opens by open_source() report to `progress`, which must
/// outlive them. One at a time.
class WatchedReading {
 public:
  explicit WatchedReading(ReadProgress& progress);
  ~WatchedReading();
  WatchedReading(const WatchedReading&) = delete;
  WatchedReading& operator=(const WatchedReading&) = delete;

  /// Of this thread, or nullptr.
  static ReadProgress* current();
};

}  // namespace fathom
