// TraceCache: what is kept of an input, so that it opens at once the next time.
#pragma once

#include <string>

#include <sys/stat.h>

#include "base/result.h"
#include "formats/format.h"

namespace fathom {

/// The kept image of one input file: its trace, as the reader left it, in a file of the user's
/// cache. It is found by device, inode, size, times of change
/// and the build of the program; what is stale, damaged, foreign or of another build is never
/// believed. Only of regular files of some size: reading a small one takes less than looking.
///
/// FATHOM_CACHE is "off", or the folder to use; FATHOM_CACHE_FROM the size in bytes from which an
/// input is kept (16 MiB), FATHOM_CACHE_SIZE that of all that is kept (4 GiB), of which what was
/// not used for longest goes first.
class TraceCache {
 public:
  /// Looks at `path` as it is now: call before it is read.
  explicit TraceCache(const std::string& path);

  /// The trace, if it was kept.
  [[nodiscard]] std::optional<Trace> find() const;
  /// Keeps the trace that was read, unless the file changed meanwhile, or is so new that a further
  /// change may not show in its times. What fails is left out. At most half of the free disk.
  void keep(const Trace& trace) const noexcept;
  /// True where keep() has a place.
  [[nodiscard]] bool keeps() const { return !file_.empty(); }

 private:
  std::string input_;
  std::string folder_;
  std::string file_;  ///< Empty: this input is not kept.
  std::string key_;
};

/// What is kept of a file, else read_trace(), which is then kept.
Result<Trace> read_kept_trace(const std::string& path, const ReadOptions& options);

}  // namespace fathom
