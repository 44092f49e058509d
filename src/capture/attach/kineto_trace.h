// The trace that libkineto writes in another process: where it will lie, and when it is complete.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"

namespace fathom::capture {

/// How often to call KinetoTrace::is_complete().
inline constexpr Duration kKinetoTraceInterval = std::chrono::milliseconds(100);

/// A trace that a process was asked to write.
class KinetoTrace {
 public:
  /// Of this process, in the folder where it may write (KINETO_ONDEMAND_TRACE_DIR, else /tmp);
  /// `tag` distinguishes it from earlier ones.
  KinetoTrace(pid_t pid, const std::string& tag);
  /// The same in a folder of one's choice; `root` is put in front of the process's paths to make
  /// them ours.
  KinetoTrace(pid_t pid, const std::string& tag, const std::string& folder, std::string root);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The file as that process names it.
  [[nodiscard]] const std::string& file() const { return plain_.path; }
  /// True once the file is complete: it ends as JSON does, and has not grown since the last calls.
  /// Call it every kKinetoTraceInterval.
  bool is_complete();
  /// Is there anything of it yet?
  [[nodiscard]] bool exists() const;
  /// Moves the complete trace to `path`. Errors: io.
  [[nodiscard]] Result<void> move_to(const std::string& path) const;

 private:
  struct File {
    std::string path;  ///< As the process names it.
    std::uintmax_t size = 0;
    int unchanged = 0;  ///< Calls in a row.
    bool complete = false;
  };
  bool look_at(File& file) const;

  pid_t pid_;
  std::string root_;
  File plain_;
  File numbered_;  ///< libkineto of some versions puts the process's number into the name.
};

}  // namespace fathom::capture
