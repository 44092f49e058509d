// TraceCache: what is kept of an input, so that it opens and answers at once the next time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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
  /// What was answered to this question about the file, if that was kept: kept and found as the
  /// trace is, so that the build and the file are the same.
  [[nodiscard]] std::optional<std::string> find_answer(std::string_view question) const;
  /// The same without a copy: shows it to `use`, and where that says false, it is not kept longer.
  /// Whether it was there and used. `use` must not be stopped (base/stop.h).
  bool use_answer(std::string_view question,
                  const std::function<bool(std::string_view)>& use) const;
  /// Keeps an answer that depends on nothing but the file, the question and the build. As keep().
  void keep_answer(std::string_view question, std::string_view answer) const noexcept;
  /// True where keep() has a place.
  [[nodiscard]] bool keeps() const { return !file_.empty(); }

 private:
  /// Is the input still what it was when it was looked at?
  [[nodiscard]] bool is_unchanged() const;
  [[nodiscard]] std::string answer_file(std::string_view question) const;

  std::string input_;
  std::string folder_;
  std::string file_;  ///< Empty: this input is not kept.
  std::string key_;
};

/// What is kept of a file, else read_trace(), which is then kept.
Result<Trace> read_kept_trace(const std::string& path, const ReadOptions& options);

}  // namespace fathom
