// What the user named as INPUT, as the files that it stands for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

/// The files behind one or several INPUT arguments.
struct Inputs {
  struct File {
    std::string path;  ///< As to be opened, and as shown; "-" is standard input.
    bool found =
        false;  ///< Found in a directory rather than named: skipped when it is not a trace.
    std::string folder = {};   ///< The session folder whose recording `path` is the base of, or "".
    std::string shown = {};    ///< What to call it where that is not `path`.
    std::string program = {};  ///< Of several in a session folder (RunRecording::program).
    std::size_t argument = 0;  ///< The place of the argument that it comes from.
  };
  std::vector<File> files;
  /// True when the argument may stand for several files (a directory, a pattern, more than one
  /// argument), even if only one was found: output then has the form for several inputs. A session
  /// folder of one recording is one input.
  bool several = false;
};

/// Expands files, "-", session folders (their recordings, engine/inputs/run_folder.h), other
/// directories (their regular files, not hidden ones, not those below) and glob patterns. Files of
/// one directory or pattern are in natural order: rank2 before rank10.
Result<Inputs> expand_inputs(std::span<const std::string> arguments);

}  // namespace fathom
