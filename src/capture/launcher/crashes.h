// Where Python programs were when native code in them crashed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/launcher/manifest.h"

namespace fathom::capture {

/// What the interpreter wrote from within the signal (docs/capture.md: crash-<pid>.txt).
struct Crash {
  std::int64_t pid = 0;
  std::string signal;  ///< In the interpreter's words: "Segmentation fault".
  std::string place;   ///< Of the program's own innermost frame: "train.py:12 in step"; or "".
};

/// Empty `signal`: the text reports no crash.
Crash parse_crash(std::string_view text);

/// Those of a session folder, by process. Files that are empty or cannot be read show nothing.
std::vector<Crash> crashes_of(const std::string& folder);

/// "process 12 crashed: Segmentation fault at train.py:12 in step".
std::string sentence_of(const Crash& crash);

/// What is lost with it, for the manifest.
NotRecorded lost_by(const Crash& crash);

}  // namespace fathom::capture
