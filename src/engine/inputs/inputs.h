// What the user named as INPUT, as the files that it stands for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/inputs/run_folder.h"

namespace fathom {

/// The files behind one or several INPUT arguments.
struct Inputs {
  struct File {
    std::string path;  ///< As to be opened, and as shown; "-" is standard input.
    bool found =
        false;  ///< Found in a directory rather than named: skipped when it is not a trace.
    std::string shown = {};       ///< What to call it where that is not `path`.
    RunRecording recording = {};  ///< Of a session folder, as found there; `path` is its base.
    std::size_t argument = 0;     ///< The place of the argument that it comes from.

    /// What to call it.
    [[nodiscard]] const std::string& name() const { return shown.empty() ? path : shown; }
    /// Is it a recording of a session folder?
    [[nodiscard]] bool of_session() const { return !recording.folder.empty(); }
  };
  std::vector<std::string> arguments;
  std::vector<File> files;
  /// True when the argument may stand for several files (a directory, a pattern, more than one
  /// argument), even if only one was found: output then has the form for several inputs. A session
  /// folder of one recording is one input.
  bool several = false;
};

/// Expands files, "-", session folders (their recordings), other
/// directories (their regular files, not hidden ones, not those below) and glob patterns. Files of
/// one directory or pattern are in natural order: rank2 before rank10.
Result<Inputs> expand_inputs(std::span<const std::string> arguments);

/// The recordings of a session folder as inputs; unset where `path` is none. One is called like the
/// folder, several by their files. Error: not_found where nothing was recorded.
std::optional<Result<Inputs>> expand_session(const std::string& path);

}  // namespace fathom
